#!/usr/bin/env python3
"""release-checksums DIR: writes and checks SHA256SUMS for the files of a release."""
import hashlib
import hmac
import json
import os
import sys

DIR = os.path.realpath(sys.argv[1]) if len(sys.argv) > 1 else os.path.realpath("release")
SUMS = "SHA256SUMS"


def locate(name):
    full = os.path.realpath(os.path.join(DIR, name))
    if not full.startswith(DIR + os.sep):
        raise ValueError("the file must lie in the release folder")
    return full


def digest(path, kind="sha256"):
    h = hashlib.new(kind)
    with open(path, "rb") as f:
        while block := f.read(1 << 16):
            h.update(block)
    return h.hexdigest()


def members():
    os.makedirs(DIR, exist_ok=True)
    return sorted(e.name for e in os.scandir(DIR) if e.is_file(follow_symlinks=False) and e.name != SUMS and not e.name.startswith("."))


def hash_file(name, kind="sha256"):
    if kind not in ("md5", "sha1", "sha256", "sha512"):
        return "md5, sha1, sha256 or sha512"
    path = locate(name)
    return "%s  %s" % (digest(path, kind), name) if os.path.isfile(path) else "There is no file %s in the release." % name


def hash_text(text, kind="sha1"):
    return hashlib.new(kind, text.encode("utf-8", "surrogatepass")).hexdigest() if kind in ("md5", "sha1", "sha256", "sha512") else "md5, sha1, sha256 or sha512"


def write_sums():
    lines = ["%s  %s\n" % (digest(os.path.join(DIR, n)), n) for n in members()]
    temporary = os.path.join(DIR, "." + SUMS + ".new")
    with open(temporary, "w") as f:
        f.writelines(lines)
    os.replace(temporary, os.path.join(DIR, SUMS))
    return "Wrote %s for %d files." % (SUMS, len(lines))


def check_sums():
    try:
        with open(os.path.join(DIR, SUMS)) as f:
            wanted = dict(reversed(line.rstrip("\n").split("  ", 1)) for line in f if "  " in line)
    except FileNotFoundError:
        return "There is no SHA256SUMS yet; write_sums makes it."
    report = []
    for name, sum_ in wanted.items():
        path = locate(name)
        ok = os.path.isfile(path) and hmac.compare_digest(digest(path), sum_)
        report.append("%s: %s" % (name, "OK" if ok else "FAILED" if os.path.isfile(path) else "missing"))
    return "\n".join(report + ["%s: not listed" % n for n in members() if n not in wanted]) or "The release is empty."


TEXT = {"type": "string"}
KIND = {"type": "string", "enum": ["md5", "sha1", "sha256", "sha512"]}
TOOLS = {
    "hash_file": [hash_file, "Computes the checksum of a file in the release folder.", {"name": TEXT, "kind": KIND}, ["name"], {"readOnlyHint": True}],
    "hash_text": [hash_text, "Computes the checksum of a text (SHA-1 unless told otherwise).", {"text": TEXT, "kind": KIND}, ["text"], {"readOnlyHint": True}],
    "write_sums": [write_sums, "Writes SHA256SUMS for all files of the release folder, in place of the one that is there.", {}, [], {"destructiveHint": True, "idempotentHint": True}],
    "check_sums": [check_sums, "Checks the files of the release folder against SHA256SUMS.", {}, [], {"destructiveHint": False}],
}


def reply_to(msg):
    method, params = msg.get("method"), msg.get("params") or {}
    if method == "initialize":
        return {"result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "release-checksums", "version": "2.0"}}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {**a, "openWorldHint": False}}
                                     for n, (_, d, p, r, a) in TOOLS.items()]}}
    if method != "tools/call" or params.get("name") not in TOOLS:
        return {"error": {"code": -32601, "message": "not found"}}
    function, _, properties, required, _ = TOOLS[params["name"]]
    given = {k: v for k, v in (params.get("arguments") or {}).items() if k in properties}
    try:
        if not all(isinstance(v, str) for v in given.values()) or not all(r in given for r in required):
            raise ValueError("text wanted for " + ", ".join(required or properties))
        return {"result": {"content": [{"type": "text", "text": function(**given)}]}}
    except (OSError, ValueError) as e:
        return {"result": {"isError": True, "content": [{"type": "text", "text": str(e)}]}}


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply_to(message)}), flush=True)
