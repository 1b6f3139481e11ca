#!/usr/bin/env python3
"""Launchers in ~/.local/bin for modules of Python's library that are programs too."""
import json
import os
import sys

BIN = os.path.expanduser("~/.local/bin")
MODULES = {"json.tool": "Formats JSON", "http.server": "Serves a folder over HTTP", "zipfile": "Works with ZIP archives", "calendar": "Prints a calendar", "timeit": "Measures small programs", "venv": "Makes virtual environments"}
MARK = "# made by launcher-scripts\n"
PROPERTIES = {"type": "object", "properties": {"module": {"type": "string", "enum": sorted(MODULES)}}, "required": ["module"]}


def path(module):
    return os.path.join(BIN, "py-" + module.replace(".", "-"))


def is_ours(name):
    try:
        with open(name, encoding="utf-8") as file:
            return MARK in file.read(200)
    except (OSError, UnicodeDecodeError):
        return False


def install(module):
    """Writes a launcher for a Python module into ~/.local/bin and makes it executable, so that shells find it as a command."""
    if os.path.exists(path(module)) and not is_ours(path(module)):
        return "There is another program of this name; it stays as it is."
    os.makedirs(BIN, exist_ok=True)
    with open(path(module), "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n%sexec python3 -m %s "$@"\n' % (MARK, module))
    os.chmod(path(module), 0o755)
    return "Installed %s: %s" % (os.path.basename(path(module)), MODULES[module])


def uninstall(module):
    """Removes the launcher for a Python module from ~/.local/bin. Programs that this server did not install are left alone."""
    if not is_ours(path(module)):
        return "There is no launcher for it."
    os.remove(path(module))
    return "Removed."


def launchers(module=None):
    """Lists the launchers that this server installed in ~/.local/bin."""
    return "\n".join("%s: %s" % (os.path.basename(path(m)), d) for m, d in sorted(MODULES.items()) if is_ours(path(m))) or "None is installed."


TOOLS = {"install_launcher": (install, {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True}), "uninstall_launcher": (uninstall, {"readOnlyHint": False, "destructiveHint": True}),
         "list_launchers": (launchers, {"readOnlyHint": True})}


def answer(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {"result": {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "launcher-scripts", "version": "1.0.0"},
                           "instructions": "Installs launcher scripts into ~/.local/bin."}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": n, "description": f.__doc__, "annotations": a, "inputSchema": {"type": "object"} if f is launchers else PROPERTIES} for n, (f, a) in TOOLS.items()]}}
    if method == "tools/call" and params.get("name") in TOOLS:
        run, module = TOOLS[params["name"]][0], (params.get("arguments") or {}).get("module")
        bad = run is not launchers and (not isinstance(module, str) or module not in MODULES)
        return {"result": {"isError": bad, "content": [{"type": "text", "text": "module: one of " + ", ".join(sorted(MODULES)) if bad else run(module)}]}}
    return {"error": {"code": -32601, "message": "not found"}}


for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if isinstance(request, dict) and "method" in request and "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer(request)}), flush=True)
