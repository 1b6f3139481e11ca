"""PKCE (RFC 7636) for people who debug a sign-in: verifier, challenge, state and the address to open."""
import base64
import hashlib
import re
import secrets
import urllib.parse

from mcp import Server, STRING

server = Server("pkce-helper", "1.1.0", instructions="Makes and checks PKCE values for OAuth. Purely local: the address is returned, never opened.")
READ = {"readOnlyHint": True, "openWorldHint": False}


def s256(verifier):
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


def pair():
    verifier = secrets.token_urlsafe(48)
    return {"code_verifier": verifier, "code_challenge": s256(verifier), "code_challenge_method": "S256"}


@server.tool("new_pair", "Makes a new random code verifier with its S256 challenge.", outputSchema={
    "type": "object", "properties": {n: STRING for n in ("code_verifier", "code_challenge", "code_challenge_method")}, "required": ["code_verifier", "code_challenge"]}, annotations=READ)
def new_pair():
    made = pair()
    return {"structuredContent": made, "content": [{"type": "text", "text": "verifier %(code_verifier)s\nchallenge %(code_challenge)s" % made}]}


@server.tool("authorization_address", "Makes the address that begins a sign-in, with a fresh challenge and state, for the client id of an app that you registered.",
             {"client_id": {**STRING, "examples": ["demo-app"]}}, {"scope": STRING, "port": {"type": "integer", "minimum": 1024, "maximum": 65535}}, annotations=READ)
def authorization_address(client_id, scope="openid email", port=8765):
    made = pair()
    query = {"response_type": "code", "client_id": client_id[:200], "redirect_uri": "http://127.0.0.1:%d/callback" % port, "scope": scope[:200], "state": secrets.token_hex(16),
             "code_challenge": made["code_challenge"], "code_challenge_method": "S256"}
    return "Open: https://login.microsoftonline.com/common/oauth2/v2.0/authorize?%s\nKeep the verifier for the exchange: %s" % (urllib.parse.urlencode(query), made["code_verifier"])


@server.tool("check_pair", "Checks whether a verifier and a challenge belong together.", {"verifier": STRING, "challenge": STRING}, annotations=READ)
def check_pair(verifier, challenge):
    if not re.fullmatch(r"[A-Za-z0-9._~-]{43,128}", verifier):
        return "A verifier has 43 to 128 letters, digits and -._~ (RFC 7636, section 4.1)."
    return "They belong together." if secrets.compare_digest(s256(verifier).encode(), challenge.encode()) else "They do not belong together."


server.run()
