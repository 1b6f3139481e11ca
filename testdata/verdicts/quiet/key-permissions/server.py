#!/usr/bin/env python3
"""Are ssh and gpg keys kept as they should be? Looks at modes and owners; no private key is opened."""
import base64
import hashlib
import json
import os
import stat
import subprocess
import sys

PLACES = {"~/.ssh": 0o700, "~/.gnupg": 0o700}


def check_modes():
    said, seen = [], 0
    for place, wanted in PLACES.items():
        top = os.path.expanduser(place)
        if not os.path.isdir(top):
            continue
        for folder, below, files in os.walk(top):
            for name, most in [(folder, wanted)] + [(os.path.join(folder, f), 0o644 if f.endswith(".pub") or f.startswith("known_hosts") else 0o600) for f in files]:
                found = os.lstat(name)
                seen += 1
                if stat.S_IMODE(found.st_mode) & ~most & 0o077:
                    said.append("%s is open to others (%o)" % (name, stat.S_IMODE(found.st_mode)))
                if found.st_uid != os.getuid():
                    said.append("%s belongs to somebody else" % name)
    return "\n".join(said) or "%d files and folders are as they should be." % seen


def public_keys():
    top, rows = os.path.expanduser("~/.ssh"), []
    for name in sorted(os.listdir(top)) if os.path.isdir(top) else []:
        if name.endswith(".pub"):
            with open(os.path.join(top, name), encoding="utf-8") as file:
                parts = file.read().split(None, 2)
            if len(parts) > 1:
                digest = base64.b64encode(hashlib.sha256(base64.b64decode(parts[1] + "==")).digest()).decode().rstrip("=")
                rows.append("%s  %s  SHA256:%s" % (name, parts[0], digest))
    return "\n".join(rows) or "There are no public keys."


def agent_keys():
    try:
        done = subprocess.run(["ssh-add", "-l"], capture_output=True, text=True, timeout=5, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired):
        return "There is no ssh agent that answers."
    return done.stdout.strip() or "There is no ssh agent that answers."


TOOLS = {
    "check_modes": (check_modes, "Checks modes and owners of the files below ~/.ssh and ~/.gnupg, without opening any."),
    "public_keys": (public_keys, "Lists the public ssh keys in ~/.ssh with their fingerprints."),
    "agent_keys": (agent_keys, "Lists the keys that the ssh agent holds, by running ssh-add -l."),
}
for line in sys.stdin:
    try:
        m = json.loads(line)
        ident, method, params = m["id"], m["method"], m.get("params") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    body = {"error": {"code": -32601, "message": "not found"}}
    if method == "initialize":
        body = {"result": {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "key-permissions", "version": "1.0.0"},
                           "instructions": "Checks how ssh and gpg keys are kept. No private key is opened."}}
    elif method == "ping":
        body = {"result": {}}
    elif method == "tools/list":
        body = {"result": {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True, "openWorldHint": False}} for n, (_, d) in TOOLS.items()]}}
    elif method == "tools/call" and params.get("name") in TOOLS:
        body = {"result": {"content": [{"type": "text", "text": TOOLS[params["name"]][0]()}]}}
    print(json.dumps({"jsonrpc": "2.0", "id": ident, **body}), flush=True)
