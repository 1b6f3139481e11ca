"""gate_client.py CALL COMMAND…   says hello, lists the tools and then writes the bytes of the file CALL"""
import subprocess, sys, time

p = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
hello = [b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}',
         b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}']
for line in hello + open(sys.argv[1], "rb").read().split(b"\n"):
    try:
        p.stdin.write(line + b"\n")
        p.stdin.flush()
    except OSError:
        break
    time.sleep(0.4)
try:
    p.stdin.close()
except OSError:
    pass
p.wait(10)
