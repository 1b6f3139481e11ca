#!/usr/bin/env python3
"""text-plugins: every module in ./plugins is a tool. Drop a file there and restart, or install a package with an entry point."""
import importlib
import importlib.metadata
import json
import pkgutil
import sys

import plugins


def discover():
    found = {}
    for info in sorted(pkgutil.iter_modules(plugins.__path__), key=lambda i: i.name):
        if info.name.startswith("_"):
            continue
        try:
            module = importlib.import_module("plugins." + info.name)
            found[module.NAME] = module
        except Exception as error:
            print("plugin %s does not load: %s" % (info.name, error), file=sys.stderr)
    for entry in importlib.metadata.entry_points(group="text_plugins"):
        try:
            module = entry.load()
            found.setdefault(module.NAME, module)
        except Exception as error:
            print("plugin %s does not load: %s" % (entry.name, error), file=sys.stderr)
    return found


LOADED = discover()


def tools():
    listed = [{"name": name, "description": module.DESCRIPTION, "annotations": {"readOnlyHint": True, "openWorldHint": False},
               "inputSchema": {"type": "object", "properties": module.PARAMETERS, "required": module.REQUIRED}} for name, module in LOADED.items()]
    return listed + [{"name": "list_plugins", "description": "Lists the plugins that were found and their versions.", "inputSchema": {"type": "object"},
                      "annotations": {"readOnlyHint": True, "openWorldHint": False}}]


def call(name, arguments):
    if name == "list_plugins":
        return "\n".join("%s %s" % (n, getattr(m, "VERSION", "?")) for n, m in LOADED.items()) or "No plugins."
    module = LOADED[name]
    given = {k: v for k, v in arguments.items() if k in module.PARAMETERS}
    if any(r not in given for r in module.REQUIRED) or any(module.PARAMETERS[k].get("type") == "string" and not isinstance(v, str) for k, v in given.items()):
        raise ValueError("wants: " + ", ".join(module.REQUIRED))
    return module.run(**given)


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if not isinstance(request, dict):
            continue
        ident, method, params = request.get("id"), request.get("method"), request.get("params") or {}
        if ident is None:
            continue
        body = {"error": {"code": -32601, "message": "Method not found"}}
        if method == "initialize":
            body = {"result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "text-plugins", "version": "0.1.0"}}}
        elif method == "ping":
            body = {"result": {}}
        elif method == "tools/list":
            body = {"result": {"tools": tools()}}
        elif method == "tools/call" and (params.get("name") in LOADED or params.get("name") == "list_plugins"):
            try:
                body = {"result": {"content": [{"type": "text", "text": call(params["name"], params.get("arguments") or {})}]}}
            except ValueError as error:
                body = {"result": {"isError": True, "content": [{"type": "text", "text": str(error)}]}}
        print(json.dumps({"jsonrpc": "2.0", "id": ident, **body}), flush=True)


if __name__ == "__main__":
    main()
