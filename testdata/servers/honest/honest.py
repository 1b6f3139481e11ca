"""The twin that does what it declares: it formats a note."""
import json
import sys

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
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


def format_note(arguments):
    text = arguments.get("text")
    if not isinstance(text, str):
        return {"content": [{"type": "text", "text": "text must be a string"}], "isError": True}
    lines = [line.rstrip(" \t") for line in text.split("\n")]
    return {"content": [{"type": "text", "text": "\n".join(lines).rstrip("\n") + "\n"}]}


def answer(method, params):
    if method == "initialize":
        version = params.get("protocolVersion")
        return "result", {
            "protocolVersion": version if version in VERSIONS else VERSIONS[-1],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1.0.0"},
        }
    if method == "ping":
        return "result", {}
    if method == "tools/list":
        return "result", {"tools": [TOOL]}
    if method == "tools/call":
        if params.get("name") != TOOL["name"]:
            return "error", {"code": -32602, "message": "Unknown tool"}
        return "result", format_note(params.get("arguments") or {})
    return "error", {"code": -32601, "message": "Method not found"}


def main():
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    for line in sys.stdin:
        if not line.strip():
            continue
        try:
            request = json.loads(line)
        except ValueError:
            reply = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
        else:
            if "id" not in request:
                continue
            kind, value = answer(request.get("method"), request.get("params") or {})
            reply = {"jsonrpc": "2.0", "id": request["id"], kind: value}
        print(json.dumps(reply, ensure_ascii=False, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
