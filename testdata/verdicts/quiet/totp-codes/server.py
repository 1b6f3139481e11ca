#!/usr/bin/env python3
"""totp-codes: codes for two-factor sign-in (RFC 6238).

The seeds are in ~/.local/share/totp-codes/accounts.json, which only you can read. No tool returns a seed: what goes in
with add_account stays in. Deleted accounts are removed from the file.
"""
import base64
import binascii
import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import struct
import sys
import time
import urllib.parse

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
FOLDER = os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "totp-codes")
FILE = os.path.join(FOLDER, "accounts.json")
HASHES = {"SHA1": hashlib.sha1, "SHA256": hashlib.sha256, "SHA512": hashlib.sha512}


def load():
    try:
        handle = os.open(FILE, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return {}
    with os.fdopen(handle, encoding="utf-8") as file:
        if stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
            raise PermissionError("others can read %s; run chmod 600 on it" % FILE)
        return json.load(file)


def save(accounts):
    data = json.dumps(accounts, indent=1).encode("utf-8")
    fresh = "%s.%s" % (FILE, secrets.token_hex(4))
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(data)
    os.replace(fresh, FILE)


def seed(text):
    text = re.sub(r"[\s-]", "", text).upper().rstrip("=")
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except binascii.Error:
        raise ValueError("the seed is not written in base 32") from None
    if not 10 <= len(raw) <= 128:
        raise ValueError("the seed has %d bytes; from 10 to 128 are usual" % len(raw))
    return text


def code_of(account, when):
    counter = int(when) // account["period"]
    raw = base64.b32decode(account["seed"] + "=" * (-len(account["seed"]) % 8))
    digest = hmac.new(raw, struct.pack(">Q", counter), HASHES[account["hash"]]).digest()
    start = digest[-1] & 15
    return "%0*d" % (account["digits"], (struct.unpack(">I", digest[start:start + 4])[0] & 0x7FFFFFFF) % 10 ** account["digits"])


def find(accounts, name):
    if name not in accounts:
        raise ValueError("there is no account %r; list_accounts shows them" % name)
    return accounts[name]


def named(name):
    name = name.strip()
    if not re.fullmatch(r"[\w .:@+-]{1,80}", name):
        raise ValueError("a name has up to 80 letters, digits, spaces and . : @ + -")
    return name


NAME = {"type": "string", "maxLength": 80, "description": "Name of the account", "examples": ["work mail"]}
SEED = {"type": "string", "description": "The seed that the service shows, in base 32", "examples": ["JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"]}
server = Server("totp-codes", "1.0.0", "Seeds are kept in ~/.local/share/totp-codes/accounts.json with mode 600 and are never shown again.")


@server.tool("add_account", "Adds an account with its seed to the private file of this server. Refuses a name that is in use.",
             {"name": NAME, "seed": SEED}, {"digits": {"type": "integer", "enum": [6, 7, 8], "default": 6}, "period": {"type": "integer", "minimum": 15, "maximum": 120, "default": 30}, "hash": {"type": "string", "enum": list(HASHES), "default": "SHA1"}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def add_account(name, digits=6, period=30, hash="SHA1", **given):
    if digits not in (6, 7, 8) or not 15 <= period <= 120 or hash not in HASHES:
        raise ValueError("digits is 6, 7 or 8, period from 15 to 120, and hash one of " + ", ".join(HASHES))
    accounts, name = load(), named(name)
    if name in accounts:
        raise ValueError("there is an account of that name; remove it first")
    accounts[name] = {"seed": seed(given["seed"]), "digits": digits, "period": period, "hash": hash}
    save(accounts)
    return "Added %s." % name


@server.tool("add_from_uri", "Adds the account of an otpauth://totp/ address, as found in the QR code of a service, to the private file of this server.",
             {"uri": {"type": "string", "maxLength": 600, "examples": ["otpauth://totp/Example:anna?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Example"]}}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def add_from_uri(uri):
    parts = urllib.parse.urlsplit(uri)
    if parts.scheme != "otpauth" or parts.netloc != "totp":
        raise ValueError("only otpauth://totp/ addresses")
    query = dict(urllib.parse.parse_qsl(parts.query))
    try:
        digits, period = int(query.get("digits", 6)), int(query.get("period", 30))
    except ValueError:
        raise ValueError("digits and period are numbers") from None
    return add_account(urllib.parse.unquote(parts.path.lstrip("/")), digits, period, query.get("algorithm", "SHA1").upper(), seed=query.get("secret", ""))


@server.tool("list_accounts", "Lists the names of the accounts with their digits and period, without seeds.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_accounts():
    return [{"name": name, "digits": a["digits"], "period": a["period"]} for name, a in sorted(load().items())]


@server.tool("current_code", "Returns the code of an account at this moment and for how many seconds it is valid.", {"name": NAME}, annotations={"readOnlyHint": True, "openWorldHint": False})
def current_code(name):
    account, now = find(load(), name), time.time()
    return {"code": code_of(account, now), "seconds left": account["period"] - int(now) % account["period"]}


@server.tool("check_code", "Says whether a code fits an account now, or one period earlier or later.", {"name": NAME, "code": {"type": "string", "pattern": "^\\d{6,8}$", "examples": ["123456"]}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def check_code(name, code):
    account, now = find(load(), name), time.time()
    if not re.fullmatch(r"[0-9]{6,8}", code):
        raise ValueError("a code has 6 to 8 digits")
    for shift, text in ((0, "valid now"), (-1, "valid a period ago; is the clock slow?"), (1, "valid in the next period; is the clock fast?")):
        if hmac.compare_digest(code_of(account, now + shift * account["period"]), code):
            return text
    return "not valid"


@server.tool("remove_account", "Removes an account and its seed from the private file. Without another copy of the seed you may be locked out of the service.", {"name": NAME}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def remove_account(name):
    accounts = load()
    find(accounts, name)
    del accounts[name]
    save(accounts)
    return "Removed %s." % name


os.makedirs(FOLDER, mode=0o700, exist_ok=True)
server.run()
