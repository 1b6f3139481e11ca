#!/usr/bin/env python3
"""crates-info: look up Rust crates on crates.io.

crates.io asks for one request a second and a User-Agent that names the program; both are kept."""
import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

VERSION = "0.3.2"
API = "https://crates.io/api/v1/"
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "crates-info")
FRESH = 3600
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
last_request = 0.0


class Problem(Exception):
    pass


def get(path, **query):
    global last_request
    url = API + path + ("?" + urllib.parse.urlencode(query) if query else "")
    kept = os.path.join(CACHE, hashlib.sha1(url.encode("utf-8", "replace")).hexdigest() + ".json")
    try:
        if time.time() - os.path.getmtime(kept) < FRESH:
            with open(kept, encoding="utf-8") as f:
                return json.load(f)
    except (OSError, ValueError):
        pass
    time.sleep(max(0.0, last_request + 1 - time.monotonic()))
    last_request = time.monotonic()
    request = urllib.request.Request(url, headers={"User-Agent": "crates-info-mcp/%s" % VERSION, "Accept": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=8) as answer:
            data = json.loads(answer.read(8 << 20))
    except urllib.error.HTTPError as e:
        raise Problem("crates.io has no such thing" if e.code == 404 else "crates.io answered %d" % e.code)
    except (OSError, ValueError) as e:
        raise Problem("crates.io cannot be asked: %s" % e)
    if not isinstance(data, dict):
        raise Problem("crates.io answered something unexpected")
    try:
        os.makedirs(CACHE, exist_ok=True)
        with open(kept + ".new", "w", encoding="utf-8") as f:
            json.dump(data, f)
        os.replace(kept + ".new", kept)
    except OSError as e:
        print("crates-info: no cache: %s" % e, file=sys.stderr)
    return data


def crate_name(args, key="name"):
    name = args.get(key)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Problem("a crate's name has letters, digits, - and _ and starts with a letter")
    return name


def crate_info(args):
    data = get("crates/" + crate_name(args))
    crate = data.get("crate") or {}
    lines = ["%s %s" % (crate.get("name"), crate.get("max_stable_version") or crate.get("max_version")), (crate.get("description") or "").strip(),
             "downloads: %s, in the last 90 days %s" % (crate.get("downloads"), crate.get("recent_downloads")), "repository: %s" % crate.get("repository")]
    for v in (data.get("versions") or [])[:8]:
        lines.append("  %s  %s  %s%s%s" % (v.get("num"), str(v.get("created_at"))[:10], v.get("license"), ", rust " + v["rust_version"] if v.get("rust_version") else "", ", YANKED" if v.get("yanked") else ""))
    return "\n".join(lines)


def search_crates(args):
    words = args.get("words")
    if not isinstance(words, str) or not words.strip():
        raise Problem("words: what to search for")
    found = get("crates", q=words[:200].encode("utf-8", "replace"), per_page=15).get("crates") or []
    return "\n".join("%s %s: %s" % (c.get("name"), c.get("max_version"), (c.get("description") or "").strip()) for c in found) or "Nothing found."


def crate_dependencies(args):
    name, version = crate_name(args), args.get("version", "")
    if not isinstance(version, str) or not re.fullmatch(r"[0-9A-Za-z.+-]{1,60}", version):
        raise Problem("version: such as 1.0.197")
    found = get("crates/%s/%s/dependencies" % (name, urllib.parse.quote(version, safe=""))).get("dependencies") or []
    return "\n".join("%s %s (%s%s)" % (d.get("crate_id"), d.get("req"), d.get("kind"), ", optional" if d.get("optional") else "") for d in found) or "No dependencies."


TEXT = {"type": "string"}
KEPT = " Answers are kept for an hour in ~/.cache/crates-info."
TOOLS = [
    (crate_info, "Shows a crate on crates.io: description, downloads, newest versions with license and minimum Rust version." + KEPT, {"name": TEXT}),
    (search_crates, "Searches crates.io." + KEPT, {"words": TEXT}),
    (crate_dependencies, "Lists the dependencies of one version of a crate, as crates.io knows them." + KEPT, {"name": TEXT, "version": TEXT}),
]


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion") or "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": {"name": "crates-info", "version": VERSION}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": f.__name__, "description": text, "annotations": {"openWorldHint": True, "destructiveHint": False},
                           "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}} for f, text, properties in TOOLS]}
    if method == "tools/call":
        for f, _, _ in TOOLS:
            if f.__name__ == params.get("name"):
                args = params.get("arguments")
                try:
                    return {"content": [{"type": "text", "text": f(args if isinstance(args, dict) else {})}]}
                except Problem as e:
                    return {"content": [{"type": "text", "text": str(e)}], "isError": True}
        raise LookupError("unknown tool")
    raise NotImplementedError(method)


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or message.get("id") is None:
        continue
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    params = message.get("params")
    try:
        answer["result"] = handle(message.get("method"), params if isinstance(params, dict) else {})
    except NotImplementedError:
        answer["error"] = {"code": -32601, "message": "no such method"}
    except LookupError as e:
        answer["error"] = {"code": -32602, "message": str(e)}
    print(json.dumps(answer), flush=True)
