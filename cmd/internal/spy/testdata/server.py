"""An MCP server on stdio without an SDK: answers of any size, late answers, batches, notifications in between."""

import json
import sys
import time


def answer(m):
    if m.get("method") == "initialize":
        return {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "plain", "version": "1"}}
    arguments = m.get("params", {}).get("arguments", {})
    if "wait" in arguments:
        time.sleep(arguments["wait"])
    return {"content": [{"type": "text", "text": "x" * arguments.get("size", 1)}]}


for line in sys.stdin:
    m = json.loads(line)
    asked = m if isinstance(m, list) else [m]
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "grüße"}}, ensure_ascii=False))
    # The result comes first, as some libraries have it: "jsonrpc" stands behind it.
    out = [{"result": answer(a), "jsonrpc": "2.0", "id": a["id"]} for a in asked if "id" in a]
    if out:
        print(json.dumps(out if isinstance(m, list) else out[0]))
    sys.stdout.flush()
