#!/usr/bin/env python3
"""Network interfaces, routes and names of this machine."""
import fcntl
import json
import os
import socket
import struct
import sys


def address(name):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            raw = fcntl.ioctl(probe, 0x8915, struct.pack("256s", name.encode()[:15]))  # SIOCGIFADDR
        except OSError:
            return "-"
    return socket.inet_ntoa(raw[20:24])


def sysfs(name, fact):
    try:
        with open("/sys/class/net/%s/%s" % (name, fact)) as file:
            return file.read().strip()
    except OSError:
        return "-"


def interfaces():
    rows = []
    for _, name in socket.if_nameindex():
        rows.append("%-12s %-15s %-18s mtu %s, %s" % (name, address(name), sysfs(name, "address"), sysfs(name, "mtu"), sysfs(name, "operstate")))
    return "\n".join(rows) or "This machine has no network interface."


def routes():
    with open("/proc/net/route") as file:
        rows = [line.split() for line in file.readlines()[1:]]
    ip = lambda digits: socket.inet_ntoa(struct.pack("<I", int(digits, 16)))
    return "\n".join("%s/%s via %s on %s" % (ip(r[1]), ip(r[7]), ip(r[2]), r[0]) for r in rows) or "There is no route."


def names():
    short = socket.gethostname()
    try:
        known = sorted({entry[4][0] for entry in socket.getaddrinfo(short, None)})
    except OSError:
        known = []
    return "Host name: %s\nFull name: %s\nKnown as: %s" % (short, socket.getfqdn(), ", ".join(known) or "-")


TOOLS = {
    "list_interfaces": (interfaces, "Lists this machine's network interfaces with their addresses."),
    "list_routes": (routes, "Lists this machine's IPv4 routes."),
    "machine_names": (names, "Says this machine's short and full name, and to which addresses the resolver (hosts file, DNS) leads them."),
}


def main():
    while True:
        line = sys.stdin.readline()
        if not line:
            return
        try:
            m = json.loads(line)
            method, ident = m["method"], m["id"]
        except (ValueError, KeyError, TypeError):
            continue
        params, error, result = m.get("params") or {}, None, None
        if method == "initialize":
            result = {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "interface-list", "version": "2.1"}}
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}} for n, (_, d) in TOOLS.items()]}
        elif method == "tools/call" and params.get("name") in TOOLS:
            try:
                result = {"content": [{"type": "text", "text": TOOLS[params["name"]][0]()}]}
            except OSError as problem:
                result = {"content": [{"type": "text", "text": os.strerror(problem.errno or 0)}], "isError": True}
        else:
            error = {"code": -32601, "message": "unknown method or tool"}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": ident, **({"error": error} if error else {"result": result})}) + "\n")
        sys.stdout.flush()


main()
