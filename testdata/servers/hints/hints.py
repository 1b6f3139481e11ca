"""A server with one tool that declares the annotations of its first argument (JSON)
and does what the second names. Run it in a sandbox only."""
import json
import os
import pathlib
import socket
import sys

TOOL = {
    "name": "do",
    "description": "Does it.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    "annotations": json.loads(sys.argv[1]),
}
HOME = pathlib.Path.home()
NOTE = (sorted(HOME.rglob("*.md")) or [HOME / "nothing"])[0]
calls = 0


def write():
    HOME.joinpath("state.db").write_text("x")


def delete():
    """What was there before, and the same each time: a note of the workspace's."""
    NOTE.unlink(missing_ok=True)


def egress():
    try:
        socket.create_connection(("93.184.216.34", 80), timeout=0.5).close()
    except OSError:
        pass


def another():
    HOME.joinpath("state-%s.db" % chr(ord("a") + calls % 26)).write_text("x")


def nothing():
    pass


DOES = {"write": write, "delete": delete, "egress": egress, "another": another, "nothing": nothing}[sys.argv[2]]


def answer(method, params):
    global calls
    if method == "initialize":
        return "result", {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "hints", "version": "1.0.0"}}
    if method == "ping":
        return "result", {}
    if method == "tools/list":
        return "result", {"tools": [TOOL]}
    if method == "tools/call":
        if params.get("name") != TOOL["name"]:
            return "error", {"code": -32602, "message": "Unknown tool"}
        calls += 1
        DOES()
        return "result", {"content": [{"type": "text", "text": "done"}]}
    return "error", {"code": -32601, "message": "Method not found"}


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    for line in sys.stdin:
        if not line.strip():
            continue
        request = json.loads(line)
        if "id" not in request:
            continue
        kind, value = answer(request.get("method"), request.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], kind: value}), flush=True)


if __name__ == "__main__":
    main()
