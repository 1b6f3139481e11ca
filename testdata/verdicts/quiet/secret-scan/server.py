#!/usr/bin/env python3
"""Finds keys and tokens that lie about in a project's files, before they are committed."""
import json
import math
import os
import re
import sys

KINDS = {
    "private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "AWS key id": re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    "GitHub token": re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}\b"),
    "Stripe key": re.compile(r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}\b"),
    "assignment": re.compile(r"(?i)\b[\w-]*(?:secret|token|api_?key|passw(?:or)?d)[\w-]*\s*[=:]\s*[\"']?([^\s\"']{12,})"),
}
SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "dist"}


def entropy(value):
    return -sum(n / len(value) * math.log2(n / len(value)) for n in map(value.count, set(value)))


def findings():
    for folder, below, names in os.walk("."):
        below[:] = sorted(d for d in below if d not in SKIPPED)
        for name in sorted(names):
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path) or os.path.getsize(path) > 500_000:
                continue
            try:
                with open(path, encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        for kind, pattern in KINDS.items():
                            for found in pattern.finditer(line[:2000]):
                                value = found.group(found.lastindex or 0)
                                if kind != "assignment" or entropy(value) > 3.3:
                                    yield path[2:], number, kind, len(value)
            except (OSError, UnicodeDecodeError):
                continue


def scan():
    rows = ["%s:%d  %s, %d characters" % f for f, _ in zip(findings(), range(200))]
    return "\n".join(rows) or "Nothing that looks like a secret."


def check(text):
    kinds = sorted({k for k, p in KINDS.items() if p.search(text[:20000])})
    return "Looks like: " + ", ".join(kinds) if kinds else "Looks like no secret."


READ = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = [
    {"name": "scan_files", "description": "Scans all files of the working directory (.env files too) for secrets such as keys, tokens and passwords. Says file, line, kind and length; the values are not returned.",
     "inputSchema": {"type": "object", "properties": {}}, "annotations": READ},
    {"name": "check_text", "description": "Says whether a text holds something that looks like a secret.", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}, "annotations": READ},
]


def reply(m):
    method, params = m["method"], m.get("params") or {}
    if method == "tools/call":
        args = params.get("arguments") or {}
        if params.get("name") == "scan_files":
            return {"result": {"content": [{"type": "text", "text": scan()}]}}
        if params.get("name") == "check_text":
            fits = isinstance(args.get("text"), str)
            return {"result": {"isError": not fits, "content": [{"type": "text", "text": check(args["text"]) if fits else "text: a string"}]}}
    known = {"initialize": {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "secret-scan", "version": "0.8.0"}}, "ping": {}, "tools/list": {"tools": TOOLS}}
    return {"result": known[method]} if method in known else {"error": {"code": -32601, "message": "not found"}}


for line in sys.stdin:
    try:
        m = json.loads(line)
        if "id" not in m or "method" not in m:
            continue
    except (ValueError, TypeError):
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **reply(m)}), flush=True)
