#!/usr/bin/env python3
"""proc-top: the processes of this machine, read from /proc. Needs no ps."""
import json
import os
import pwd
import sys

PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read(8192)
    except OSError:
        return b""


def process(pid):
    stat = read("/proc/%d/stat" % pid).decode(errors="replace")
    if ")" not in stat:
        return None
    fields = stat[stat.rindex(")") + 2:].split()
    try:
        uid = os.stat("/proc/%d" % pid).st_uid
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        user = str(uid)
    except OSError:
        return None
    return {"pid": pid, "name": stat[stat.index("(") + 1:stat.rindex(")")], "state": fields[0], "parent": int(fields[1]), "user": user,
            "cpu_seconds": round((int(fields[11]) + int(fields[12])) / TICKS, 2), "memory_mib": round(int(fields[21]) * PAGE / 2**20, 1)}


def processes():
    return [p for p in (process(int(n)) for n in os.listdir("/proc") if n.isdigit()) if p]


def top(sort="memory_mib", count=10):
    key = sort if sort in ("memory_mib", "cpu_seconds") else "memory_mib"
    rows = sorted(processes(), key=lambda p: p[key], reverse=True)[:max(1, min(int(count), 50))]
    return "\n".join("%(pid)7d %(user)-10s %(state)s %(cpu_seconds)8.2fs %(memory_mib)8.1fM %(name)s" % p for p in rows)


def show(pid):
    found = process(pid) if pid > 0 else None
    if not found:
        return "There is no process %d." % pid
    found["command"] = read("/proc/%d/cmdline" % pid).replace(b"\0", b" ").decode(errors="replace").strip()
    return json.dumps(found, indent=1)


def tree():
    everyone = processes()
    below = {}
    for p in everyone:
        below.setdefault(p["parent"], []).append(p)
    known, lines = {p["pid"] for p in everyone}, []

    def walk(p, depth):
        lines.append("  " * depth + "%d %s" % (p["pid"], p["name"]))
        for child in below.get(p["pid"], []):
            walk(child, depth + 1)
    for p in everyone:
        if p["parent"] not in known:
            walk(p, 0)
    return "\n".join(lines)


COUNT, PID = {"type": "integer", "minimum": 1, "maximum": 50}, {"type": "integer", "minimum": 1}
TOOLS = {
    "top_processes": (top, "Lists the processes of this machine that take most memory or processor time, from /proc.", {"sort": {"type": "string", "enum": ["memory_mib", "cpu_seconds"]}, "count": COUNT}, []),
    "show_process": (show, "Shows one process with its command line, from /proc.", {"pid": PID}, ["pid"]),
    "process_tree": (tree, "Shows which process started which, from /proc.", {}, []),
}


def serve(request):
    method, params = request.get("method"), request.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "proc-top", "version": "0.5.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": text, "inputSchema": {"type": "object", "properties": props, "required": need}, "annotations": {"readOnlyHint": True, "openWorldHint": False}}
                          for name, (_, text, props, need) in TOOLS.items()]}
    if method == "tools/call":
        function, _, props, need = TOOLS[params["name"]]
        given = {k: v for k, v in (params.get("arguments") or {}).items() if k in props}
        wrong = [k for k in props if (k in given and props[k]["type"] == "integer" and type(given[k]) is not int) or (k in need and k not in given)]
        if wrong:
            return {"isError": True, "content": [{"type": "text", "text": "wrong: " + ", ".join(wrong)}]}
        return {"content": [{"type": "text", "text": function(**given)}]}
    raise KeyError(method)


for text in iter(sys.stdin.readline, ""):
    try:
        request = json.loads(text)
    except ValueError:
        continue
    if not isinstance(request, dict) or "id" not in request:
        continue
    try:
        reply = {"result": serve(request)}
    except KeyError as unknown:
        reply = {"error": {"code": -32601, "message": "unknown: %s" % unknown}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"]} | reply) + "\n")
    sys.stdout.flush()
