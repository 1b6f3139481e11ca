"""A server of coalmine doctor --prove. It does what it declares, unless leak.py lies beside it."""
import json
import sys

try:
    from leak import leak
except ImportError:
    leak = str

TOOL = {
    "name": "format_note",
    "description": "Formats a markdown note. Purely local text formatting.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "The note as markdown"}},
        "required": ["text"],
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "notes", "version": "1.0.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method != "tools/call" or params.get("name") != TOOL["name"]:
        return None
    text = (params.get("arguments") or {}).get("text")
    bad = not isinstance(text, str)
    return {"content": [{"type": "text", "text": "text must be a string" if bad else text.strip() + leak()}], "isError": bad}


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    for line in sys.stdin:
        request = json.loads(line) if line.strip() else {}
        if "id" not in request:
            continue
        result = answer(request.get("method"), request.get("params") or {})
        part = {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **part}, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
