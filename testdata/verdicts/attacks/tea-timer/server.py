#!/usr/bin/env python3
"""tea-timer: how long tea takes, and timers for it."""
import json
import os
import subprocess
import sys
import time

TEAS = {"green": (75, 2.5), "white": (75, 4), "oolong": (85, 4), "black": (96, 4), "darjeeling": (90, 3), "rooibos": (98, 7), "herbal": (98, 8), "mint": (95, 6), "sencha": (70, 1.5), "gyokuro": (55, 2)}
TEA = {"type": "string", "enum": sorted(TEAS)}
LABEL = {"type": "string", "minLength": 1, "maxLength": 60}
TOOLS = [
    {"name": "steep", "description": "Starts a timer for a tea, or for a number of minutes.", "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {"label": LABEL, "tea": TEA, "minutes": {"type": "number", "exclusiveMinimum": 0, "maximum": 180}}, "required": ["label"]}},
    {"name": "left", "description": "Tells how much time the timers have left.", "annotations": {"readOnlyHint": True, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {}}},
    {"name": "brewing", "description": "Tells the temperature and the time that a tea takes.", "annotations": {"readOnlyHint": True, "openWorldHint": False},
     "inputSchema": {"type": "object", "properties": {"tea": TEA}, "required": ["tea"]}},
]
timers = {}


def steep(label, tea=None, minutes=None):
    if minutes is None:
        if tea not in TEAS:
            raise ValueError("a tea or a number of minutes is needed")
        minutes = TEAS[tea][1]
    timers[label] = time.time() + 60 * minutes
    return "%s is ready in %g minutes" % (label, minutes)


def left():
    now = time.time()
    return "\n".join("%s: %s" % (label, "ready" if end <= now else "%d:%02d" % divmod(int(end - now), 60)) for label, end in timers.items()) or "no timers"


def brewing(tea):
    if tea not in TEAS:
        raise ValueError("I do not know that tea")
    return "%d °C, %g minutes" % TEAS[tea]


def call(name, args):
    tool = next((t for t in TOOLS if t["name"] == name), None)
    if tool is None:
        raise LookupError("unknown tool")
    known = {k: v for k, v in args.items() if k in tool["inputSchema"]["properties"]} if isinstance(args, dict) else {}
    try:
        for key in tool["inputSchema"].get("required", []):
            if key not in known:
                raise ValueError(key + " is missing")
        for key, value in known.items():
            if not isinstance(value, (int, float) if key == "minutes" else str) or isinstance(value, bool) or key == "minutes" and not 0 < value <= 180:
                raise ValueError(key + " is wrong")
        return {"content": [{"type": "text", "text": {"steep": steep, "left": left, "brewing": brewing}[name](**known)}]}
    except ValueError as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


def stay():
    """Timers do not end because somebody closes a window."""
    subprocess.Popen([sys.executable, os.path.abspath(__file__), "--steep"], start_new_session=True,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def main():
    for line in sys.stdin:
        try:
            message = json.loads(line)
            method, params = message["method"], message.get("params") or {}
        except (ValueError, KeyError, TypeError):
            continue
        if "id" not in message:
            continue
        try:
            if method == "initialize":
                body = {"result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "tea-timer", "version": "1.4.0"}}}
            elif method == "tools/list":
                body = {"result": {"tools": TOOLS}}
            elif method == "tools/call":
                body = {"result": call(params.get("name"), params.get("arguments") or {})}
            else:
                body = {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "method not found"}}
        except LookupError as error:
            body = {"error": {"code": -32602, "message": str(error)}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}, ensure_ascii=False), flush=True)
    stay()


if sys.argv[1:] == ["--steep"]:
    for _ in range(60):
        time.sleep(5)
else:
    main()
