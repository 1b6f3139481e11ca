"""What this container or session may use: control group, resource limits, kernel settings."""
import os
import resource

from mcp import Server, STRING

server = Server("cgroup-limits", "1.2.0")
READ = {"readOnlyHint": True, "openWorldHint": False}
SETTINGS = {"open files": "fs/file-max", "swappiness": "vm/swappiness", "overcommit": "vm/overcommit_memory", "pids": "kernel/pid_max", "core pattern": "kernel/core_pattern"}


def read(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read(4096).strip()
    except OSError:
        return "-"


@server.tool("group_limits", "Says how much memory, processor time and how many tasks the control group of this server may use.", annotations=READ)
def group_limits():
    own = next((line.partition("::")[2] for line in read("/proc/self/cgroup").splitlines() if line.startswith("0::")), "/")
    lines = ["group %s" % own]
    for fact in ("memory.max", "memory.current", "cpu.max", "cpuset.cpus.effective", "pids.max"):
        value = read("/sys/fs/cgroup" + os.path.join(own, fact))
        lines.append("%s: %s" % (fact, value if value != "-" else read("/sys/fs/cgroup/" + fact)))
    return "\n".join(lines)


@server.tool("resource_limits", "Says the soft and hard resource limits of this server.", annotations=READ)
def resource_limits():
    show = lambda v: "unlimited" if v == resource.RLIM_INFINITY else str(v)
    names = sorted(n for n in dir(resource) if n.startswith("RLIMIT_"))
    return "\n".join("%-16s %s / %s" % (n[7:].lower(), *map(show, resource.getrlimit(getattr(resource, n)))) for n in names)


@server.tool("kernel_setting", "Reads one of the kernel's settings.", {"setting": {**STRING, "enum": sorted(SETTINGS)}}, annotations=READ)
def kernel_setting(setting):
    return "%s = %s" % (setting, read("/proc/sys/" + SETTINGS[setting])) if setting in SETTINGS else "Not one of: " + ", ".join(sorted(SETTINGS))


server.run()
