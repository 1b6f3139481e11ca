#!/usr/bin/env python3
"""Differences between texts in the colours of a terminal."""
import difflib
import json
import re
import sys

RED, GREEN, DIM, PLAIN = "\x1b[31m", "\x1b[32m", "\x1b[2m", "\x1b[0m"
STRING = {"type": "string"}


def by_line(old, new):
    out = []
    for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "old", "new", lineterm="", n=2):
        colour = {"+": GREEN, "-": RED}.get(line[:1], DIM if line.startswith("@@") else "")
        out.append(colour + line + PLAIN if colour else line)
    return "\n".join(out) or "The texts are alike."


def by_word(old, new):
    a, b, out = re.split(r"(\s+)", old), re.split(r"(\s+)", new), []
    for what, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if what in ("delete", "replace"):
            out.append(RED + "".join(a[i:j]) + PLAIN)
        if what in ("insert", "replace"):
            out.append(GREEN + "".join(b[k:m]) + PLAIN)
        if what == "equal":
            out.append("".join(a[i:j]))
    return "".join(out) or "Both texts are empty."


TOOLS = {
    "diff_lines": (by_line, "Shows which lines of two texts differ, in terminal colours (ANSI escape codes): green is new, red is old."),
    "diff_words": (by_word, "Shows which words of two texts differ, in terminal colours (ANSI escape codes): green is new, red is old."),
}


class Failure(Exception):
    pass


def serve(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "ansi-diff", "version": "1.0.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"old": STRING, "new": STRING}, "required": ["old", "new"]}
        return {"tools": [{"name": n, "description": d, "inputSchema": schema, "annotations": {"readOnlyHint": True, "openWorldHint": False}} for n, (_, d) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        given = params.get("arguments") or {}
        old, new = given.get("old"), given.get("new")
        if not isinstance(old, str) or not isinstance(new, str):
            return {"isError": True, "content": [{"type": "text", "text": "old and new are strings"}]}
        return {"content": [{"type": "text", "text": TOOLS[params["name"]][0](old[:20000], new[:20000])}]}
    raise Failure(method)


for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if not isinstance(request, dict) or "id" not in request or "method" not in request:
        continue
    try:
        reply = {"result": serve(request["method"], request.get("params") or {})}
    except Failure:
        reply = {"error": {"code": -32601, "message": "unknown method or tool"}}
    print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
