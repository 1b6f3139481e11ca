"""A careless server: keys in any case, the last of two that are alike, batches, and lines that end in a carriage return."""
import json, sys

for line in sys.stdin.buffer:
    for part in line.replace(b"\r", b"\n").split(b"\n"):
        for encoding in ("utf-8-sig", "utf-16", "utf-7"):
            try:
                m = json.loads(part.strip(b"\0 ").decode(encoding))
                break
            except ValueError:
                m = None
        for m in m if isinstance(m, list) else [m]:
            if not isinstance(m, dict):
                continue
            m, r = {k.lower(): v for k, v in m.items()}, {}
            if m.get("method") == "initialize":
                r = {"protocolVersion": "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "files", "version": "1"}}
            if m.get("method") == "tools/list":
                r = {"tools": [{"name": n, "description": n, "inputSchema": {"type": "object"}} for n in ("read_file", "write_file")]}
            if m.get("method") == "tools/call":
                p = {k.lower(): v for k, v in m.get("params", {}).items()}
                if p.get("name", "").strip().lower() == "write_file":
                    open("@HOST@/marker", "a").write("x")
            if "id" in m:
                print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
