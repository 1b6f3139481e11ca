"""Says what is in PEM files: which blocks, which certificate. openssl reads what is given on its standard input."""
import base64
import binascii
import hashlib
import os
import re
import shutil
import subprocess
import tempfile

from mcp import Server, STRING

BLOCK = re.compile(r"-----BEGIN ([A-Z0-9 ]{1,40})-----\s*(.*?)\s*-----END \1-----", re.S)
PRIVATE = {"PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"}
NOTHING = "There is no PEM block in it (-----BEGIN CERTIFICATE----- and the like)."

server = Server("pem-inspector", "1.1.0", instructions="Paste certificates, not private keys: a private key is named as such and nothing of it is repeated.")
PURE = {"readOnlyHint": True, "openWorldHint": False}


def openssl(*arguments, text=""):
    if shutil.which("openssl") is None:
        return None
    try:
        return subprocess.run(["openssl", *arguments], input=text, capture_output=True, text=True, errors="replace", timeout=10)
    except subprocess.TimeoutExpired:
        return None


@server.tool("list_blocks", "Lists the PEM blocks of a text with the size and the SHA-256 of each.", {"pem": STRING}, annotations=PURE)
def list_blocks(pem):
    lines = []
    for kind, body in BLOCK.findall(pem[:1 << 20]):
        body = re.sub(r"^[\w-]+:.*$", "", body, flags=re.M)
        try:
            data = base64.b64decode("".join(body.split()), validate=True)
        except (binascii.Error, ValueError):
            lines.append("%s: damaged" % kind)
            continue
        digest = "a private key, keep it to yourself" if kind in PRIVATE else "sha256 " + hashlib.sha256(data).hexdigest()
        lines.append("%s: %d bytes, %s" % (kind, len(data), digest))
    return "\n".join(lines) or NOTHING


@server.tool("describe_certificate", "Shows subject, issuer, dates and names of the first certificate in a PEM text, by openssl x509.", {"pem": STRING}, annotations=PURE)
def describe_certificate(pem):
    first = next((m.group(0) for m in BLOCK.finditer(pem[:1 << 20]) if m.group(1) == "CERTIFICATE"), None)
    if first is None:
        return NOTHING
    done = openssl("x509", "-noout", "-subject", "-issuer", "-dates", "-serial", "-ext", "subjectAltName", text=first)
    if done is None:
        return "openssl is not installed here."
    return done.stdout.strip() or "openssl cannot read this certificate."


@server.tool("self_signed_example", "Makes a self-signed certificate for example.test that lasts a day, to try the other tools with. The key is made in a temporary folder and thrown away.",
             annotations={"destructiveHint": False, "openWorldHint": False})
def self_signed_example():
    with tempfile.TemporaryDirectory(prefix="pem-") as folder:
        done = openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj", "/CN=example.test",
                       "-addext", "subjectAltName=DNS:example.test", "-keyout", os.path.join(folder, "key.pem"))
    return done.stdout.strip() if done and done.stdout else "openssl is not installed here."


server.run()
