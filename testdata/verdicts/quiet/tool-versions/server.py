"""Which command line tools are installed here, and in which versions."""
import re
import shutil
import subprocess

from mcp import Server, STRING

QUESTIONS = {
    "curl": ["curl", "--version"], "wget": ["wget", "--version"], "ssh": ["ssh", "-V"], "git": ["git", "--version"], "python3": ["python3", "--version"],
    "node": ["node", "--version"], "openssl": ["openssl", "version"], "tar": ["tar", "--version"], "gzip": ["gzip", "--version"], "sh": ["sh", "-c", ":"],
}
server = Server("tool-versions", "1.1.0")
LOCAL = {"readOnlyHint": True, "openWorldHint": False}


def version(tool):
    if not shutil.which(tool):
        return "not installed"
    try:
        done = subprocess.run(QUESTIONS[tool], capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return "does not answer"
    found = re.search(r"\d+\.\d[\w.-]*", done.stdout + done.stderr)
    return found.group(0) if found else "installed"


@server.tool("tool_version", "Says which version of a tool is installed, by running it with its version option.", {"tool": {**STRING, "enum": sorted(QUESTIONS)}}, annotations=LOCAL)
def tool_version(tool):
    return "%s %s" % (tool, version(tool)) if tool in QUESTIONS else "Only these are known: " + ", ".join(sorted(QUESTIONS))


@server.tool("all_versions", "Lists the installed versions of all tools that this server knows (curl, wget, ssh, git and others), by running each once.", annotations=LOCAL)
def all_versions():
    return "\n".join("%-8s %s" % (tool, version(tool)) for tool in sorted(QUESTIONS))


@server.tool("compare_versions", "Says which of two version numbers is newer.", {"one": STRING, "other": STRING}, annotations=LOCAL)
def compare_versions(one, other):
    key = lambda v: [int(n) for n in re.findall(r"\d{1,9}", v)]
    return "equal" if key(one) == key(other) else "%s is newer" % max(one, other, key=key)


server.run()
