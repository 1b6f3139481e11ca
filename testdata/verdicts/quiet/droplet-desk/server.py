#!/usr/bin/env python3
"""droplet-desk: DigitalOcean droplets from a chat. Standard library only."""
import http.client
import json
import os
import re
import sys
import time
from urllib.parse import urlencode

VERSION = "0.6.2"
HOST = "api.digitalocean.com"
DOCTL = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "doctl", "config.yaml")


def find_token():
    """Returns the token and where it is from: the environment, .env, or the settings of doctl."""
    for name in ("DIGITALOCEAN_ACCESS_TOKEN", "DIGITALOCEAN_TOKEN"):
        if os.environ.get(name):
            return os.environ[name], "the variable " + name
    for path, pattern in ((".env", r"^(?:export\s+)?DIGITALOCEAN_(?:ACCESS_)?TOKEN\s*=\s*[\"']?([\w-]+)"), (DOCTL, r"^access-token:\s*[\"']?([\w-]+)")):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                found = re.search(pattern, f.read(1 << 20), re.M)
        except OSError:
            continue
        if found:
            return found[1], os.path.abspath(path)
    raise RuntimeError("no token: set DIGITALOCEAN_ACCESS_TOKEN, put it into .env, or run doctl auth init (%s)" % DOCTL)


def request(method, path, body=None):
    token, _ = find_token()
    for attempt in range(3):
        connection = http.client.HTTPSConnection(HOST, timeout=10)
        try:
            connection.request(method, "/v2" + path, json.dumps(body) if body else None,
                               {"Authorization": "Bearer " + token, "Content-Type": "application/json", "User-Agent": "droplet-desk/" + VERSION})
            response = connection.getresponse()
            data = response.read(8 << 20)
        except OSError as e:
            raise RuntimeError("%s cannot be reached: %s" % (HOST, e)) from None
        finally:
            connection.close()
        if response.status != 429:
            break
        time.sleep(1 + attempt)
    try:
        answer = json.loads(data or b"{}")
    except ValueError:
        raise RuntimeError("%s %s: %d, and the answer is no JSON" % (method, path, response.status)) from None
    if response.status >= 400:
        raise RuntimeError("%s %s: %d %s" % (method, path, response.status, answer.get("message", "")))
    return answer


def address(droplet):
    v4 = droplet.get("networks", {}).get("v4", [])
    return next((n["ip_address"] for n in v4 if n.get("type") == "public"), "no public address")


def list_droplets(args):
    query = {"per_page": 200, **({"tag_name": args["tag"]} if args.get("tag") else {})}
    droplets = request("GET", "/droplets?" + urlencode(query)).get("droplets", [])
    lines = ["%s  %s  %s  %s  %s  $%s a month" % (d["id"], d["name"], d["status"], d["size_slug"], address(d), d.get("size", {}).get("price_monthly", "?")) for d in droplets]
    total = sum(d.get("size", {}).get("price_monthly") or 0 for d in droplets)
    return "\n".join(lines + ["%d droplets, $%.2f a month" % (len(droplets), total)])


def take_snapshot(args):
    if args["id"] < 1:
        raise RuntimeError("id is the number that list_droplets shows")
    name = args.get("name") or time.strftime("snapshot-%Y%m%d-%H%M")
    action = request("POST", "/droplets/%d/actions" % args["id"], {"type": "snapshot", "name": name}).get("action", {})
    return "Snapshot %s: %s" % (name, action.get("status", "requested"))


def token_source(args):
    return "The token is from %s." % find_token()[1]


TOOLS = [
    (list_droplets, "Lists droplets with status, size, public address and monthly price, and what all cost together.", {"tag": {"type": "string", "description": "Only droplets with this tag"}}, [], {"readOnlyHint": True}),
    (take_snapshot, "Takes a snapshot of a droplet, which costs money as long as it is kept.", {"id": {"type": "integer"}, "name": {"type": "string"}}, ["id"], {"readOnlyHint": False, "destructiveHint": False}),
    (token_source, "Says where the DigitalOcean token is taken from, without showing it. Asks nobody.", {}, [], {"readOnlyHint": True, "openWorldHint": False}),
]
INSTRUCTIONS = ("Uses the API of DigitalOcean. The token is looked for in DIGITALOCEAN_ACCESS_TOKEN, in .env of the working directory and in ~/.config/doctl/config.yaml, "
                "and is sent to api.digitalocean.com alone.")
KINDS = {"string": str, "integer": int}


def tools_call(params):
    for function, _, properties, required, _ in TOOLS:
        if function.__name__ == params.get("name"):
            args = params.get("arguments") or {}
            if not isinstance(args, dict):
                break
            bad = [n for n in required if n not in args] + [n for n in args if n in properties and type(args[n]) is not KINDS[properties[n]["type"]]]
            if bad:
                return {"content": [{"type": "text", "text": "Missing or wrong: " + ", ".join(bad)}], "isError": True}
            try:
                return {"content": [{"type": "text", "text": function(args)}]}
            except (RuntimeError, KeyError, ValueError, TypeError, AttributeError, http.client.HTTPException) as e:
                return {"content": [{"type": "text", "text": str(e) or repr(e)}], "isError": True}
    return {"content": [{"type": "text", "text": "There is no such tool, or its arguments are no object."}], "isError": True}


for line in sys.stdin:
    try:
        message = json.loads(line)
        method, params = message["method"], message.get("params") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    if "id" not in message or not isinstance(params, dict):
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {"listChanged": False}},
                           "serverInfo": {"name": "droplet-desk", "version": VERSION}, "instructions": INSTRUCTIONS}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": f.__name__, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": a} for f, d, p, r, a in TOOLS]}
    elif method == "tools/call":
        reply["result"] = tools_call(params)
    elif method == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "Method not found: %s" % method}
    print(json.dumps(reply), flush=True)
