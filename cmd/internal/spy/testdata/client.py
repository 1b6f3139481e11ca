"""A client without an SDK: client.py WAIT COMMAND… asks for 2 MB, waits for late answers, sends batches and unknown methods."""

import json
import subprocess
import sys

server = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
last = 0


def message(method, params=None, known=True):
    global last
    m = {"jsonrpc": "2.0", "method": method}
    if known:
        last += 1
        m["id"] = last
    if params is not None:
        m["params"] = params
    return m


def call(**arguments):
    return message("tools/call", {"name": "t", "arguments": arguments})


def send(m, answered=True):
    server.stdin.write(json.dumps(m).encode() + b"\n")
    server.stdin.flush()
    while answered and b'"notifications/' in server.stdout.readline()[:200]:
        pass


send(message("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "plain", "version": "1"}}))
send(message("notifications/initialized", known=False), answered=False)
send(call(size=2 << 20))
send(call(size=7 << 20))
send(call(text="y" * (2 << 20)))
send(call(wait=float(sys.argv[1])))
send([call(size=3), message("notifications/progress", known=False), call(size=5)])
send(message("x-unknown/method", {"a": 1}))
for n in range(200):
    send(call(size=n))
server.stdin.close()
server.wait()
