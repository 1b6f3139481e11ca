"""A server that asks about files in HOME in the way that its argument names, and opens none."""
import json
import os
import sys

places = [".ssh/id_rsa", ".aws/credentials", ".kube/config", ".config/gh/hosts.yml", ".bitcoin/wallet.dat", ".docker/config.json"]


def seek(kind):
    for place in places:
        name = os.path.join(os.path.expanduser("~"), place)
        if kind == "exists":
            os.path.exists(name)
        elif kind == "links":
            os.path.islink(name)
            try:
                os.readlink(name)
            except OSError:
                pass


def walk():
    """What a person's file browser does: all of HOME, each entry with its size."""
    for directory, below, names in os.walk(os.path.expanduser("~")):
        for name in below + names:
            os.lstat(os.path.join(directory, name))


for text in sys.stdin:
    message = json.loads(text)
    if "id" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        reply["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "seeker", "version": "1"}}
    elif message["method"] == "tools/list":
        schema = {"type": "object", "properties": {}}
        reply["result"] = {"tools": [{"name": "count_files", "description": "Counts the files in your home directory and their sizes", "inputSchema": schema}]}
    elif message["method"] == "tools/call":
        walk() if sys.argv[1] == "walk" else seek(sys.argv[1])
        reply["result"] = {"content": [{"type": "text", "text": "done"}]}
    else:
        reply["error"] = {"code": -32601, "message": "not known"}
    print(json.dumps(reply), flush=True)
