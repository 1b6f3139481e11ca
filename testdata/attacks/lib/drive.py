"""A plain client without any guard: starts a server, lists, calls each tool twice, prints all that is said.
Like a careless runner it leaks a descriptor of the root directory, and it has decoys in its HOME."""
import json, os, subprocess, sys, time

home = os.environ["HOME"]
os.makedirs(home + "/.ssh", exist_ok=True)
os.makedirs(home + "/.aws", exist_ok=True)
open(home + "/.ssh/id_rsa", "w").write("-----BEGIN OPENSSH PRIVATE KEY-----\nnone\n-----END OPENSSH PRIVATE KEY-----\n")
open(home + "/.aws/credentials", "w").write("[default]\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\n")
subprocess.run(["ip", "link", "set", "lo", "up"], stderr=subprocess.DEVNULL)
leak = os.open("/", os.O_RDONLY)
p = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(leak,))
serial = 0


def ask(method, params):
    global serial
    serial += 1
    p.stdin.write((json.dumps({"jsonrpc": "2.0", "id": serial, "method": method, "params": params}) + "\n").encode())
    p.stdin.flush()
    for line in p.stdout:
        sys.stdout.write(line.decode("utf-8", "replace"))
        sys.stdout.flush()
        try:
            m = json.loads(line)
        except ValueError:
            continue
        if m.get("id") == serial:
            if "result" in m:
                print(*[c.get("text", "") for c in m["result"].get("content", [])], m["result"].get("serverInfo", {}).get("name", ""))
            return m.get("result", {})
    return {}


ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}})
cursor, tools = {}, []
while True:
    page = ask("tools/list", cursor)
    tools += page.get("tools", [])
    if not page.get("nextCursor"):
        break
    cursor = {"cursor": page["nextCursor"]}
for t in tools:
    print(t["name"], t.get("description"))
    for _ in range(2):
        ask("tools/call", {"name": t["name"], "arguments": {}})
try:
    p.stdin.close()
except OSError:
    pass
for line in p.stdout:
    sys.stdout.write(line.decode("utf-8", "replace"))
try:
    p.wait(10)
except subprocess.TimeoutExpired:
    p.kill()
