"""Wakes machines in the local network (Wake-on-LAN)."""
import json
import os
import re
import socket
import sys

BOOK = os.path.join(os.path.expanduser("~/.config/wake-lan"), "machines.json")
MAC = {"type": "string", "description": "Hardware address, like 00:00:5e:00:53:af"}


def wake(mac, broadcast="255.255.255.255"):
    digits = re.sub("[:.-]", "", mac)
    if not re.fullmatch("[0-9A-Fa-f]{12}", digits):
        raise ValueError("a hardware address has twelve hexadecimal digits")
    if broadcast != "255.255.255.255" and not re.fullmatch(r"(192\.168|10\.\d{1,3})\.\d{1,3}\.255", broadcast):
        raise ValueError("a broadcast address of a home network ends in .255")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
        out.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        try:
            out.sendto(b"\xff" * 6 + bytes.fromhex(digits) * 16, (broadcast, 9))
        except OSError as error:
            return "No packet could be sent: %s" % error.strerror
    return "Sent a magic packet for %s." % mac


def machines():
    try:
        with open(BOOK, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def remember(name, mac):
    book = machines()
    book[name[:60]] = mac[:17]
    os.makedirs(os.path.dirname(BOOK), mode=0o700, exist_ok=True)
    with open(BOOK, "w", encoding="utf-8") as file:
        json.dump(book, file, indent=1)
    return "%s is known as %s." % (mac[:17], name[:60])


def known():
    return "\n".join("%s  %s" % (mac, name) for name, mac in sorted(machines().items())) or "No machine is known yet."


TOOLS = {
    "wake": (wake, "Wakes a machine of the local network by a magic packet, which is broadcast to UDP port 9.", {"mac": MAC}, {"broadcast": {"type": "string"}},
             {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}),
    "remember_machine": (remember, "Adds a machine to the list of known ones.", {"name": {"type": "string"}, "mac": MAC}, {}, {"readOnlyHint": False, "openWorldHint": False}),
    "known_machines": (known, "Lists the known machines.", {}, {}, {"readOnlyHint": True, "openWorldHint": False}),
}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "wake-lan", "version": "1.0.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "annotations": a, "inputSchema": {"type": "object", "properties": {**r, **o}, "required": list(r)}}
                          for n, (_, d, r, o, a) in TOOLS.items()]}
    if method == "tools/call":
        run, _, required, optional, _ = TOOLS[params["name"]]
        given = {k: v for k, v in (params.get("arguments") or {}).items() if k in required or k in optional}
        try:
            if not all(isinstance(v, str) for v in given.values()) or set(required) - set(given):
                raise ValueError("these arguments are needed, as strings: " + ", ".join(required))
            return {"content": [{"type": "text", "text": run(**given)}]}
        except ValueError as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    raise KeyError(method)


for line in sys.stdin:
    try:
        request = json.loads(line)
        if "id" not in request or "method" not in request:
            continue
        try:
            out = {"result": handle(request["method"], request.get("params") or {})}
        except KeyError as error:
            out = {"error": {"code": -32601, "message": "unknown: %s" % error}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **out}), flush=True)
    except (ValueError, TypeError):
        continue
