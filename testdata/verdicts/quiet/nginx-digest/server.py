#!/usr/bin/env python3
"""nginx-digest: what happened in access.log, in a few lines.

usage: nginx-digest [FOLDER]       FOLDER is /var/log/nginx unless named
Client addresses are shortened (/24 and /48) in everything that is shown, and query strings are left out."""
import collections
import datetime
import glob
import gzip
import ipaddress
import json
import os
import re
import sys

FOLDER = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "/var/log/nginx")
MOST_LINES = 500_000
COMBINED = re.compile(r'(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+)[^"]*" (\d{3}) (\d+|-)(?: "([^"]*)" "([^"]*)")?')
BOTS = re.compile(r"bot\b|crawl|spider|slurp|curl/|wget/|python-requests|monitor", re.I)
Hit = collections.namedtuple("Hit", "client time method path status size agent")


def files():
    found = [p for p in glob.glob(os.path.join(glob.escape(FOLDER), "*access*.log*")) if os.path.isfile(p)]
    return sorted(found, key=os.path.getmtime, reverse=True)


def short(address):
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return "?"
    return str(ipaddress.ip_network((ip, 24 if ip.version == 4 else 48), strict=False))


def hits(hours):
    oldest = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=hours)
    count = 0
    for path in files():
        if os.path.getmtime(path) < oldest.timestamp():
            break
        with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as log:
            for line in log:
                count += 1
                if count > MOST_LINES:
                    return
                match = COMBINED.match(line[:8000])
                if not match:
                    continue
                try:
                    time = datetime.datetime.strptime(match[2], "%d/%b/%Y:%H:%M:%S %z")
                except ValueError:
                    continue
                if time >= oldest:
                    yield Hit(short(match[1]), time, match[3], match[4].split("?")[0][:200], int(match[5]), 0 if match[6] == "-" else int(match[6]), match[8] or "")


def top(counter, n=10):
    return ["%7d  %s" % (c, k) for k, c in counter.most_common(n)]


def summary(hours):
    status, paths, clients, bots, size, total = collections.Counter(), collections.Counter(), collections.Counter(), 0, 0, 0
    for hit in hits(hours):
        total += 1
        size += hit.size
        status["%dxx" % (hit.status // 100)] += 1
        paths[hit.path] += 1
        clients[hit.client] += 1
        bots += bool(BOTS.search(hit.agent))
    if not total:
        return "No requests in the last %d hours in %s." % (hours, FOLDER)
    return "\n".join(["%d requests, %.1f MB, %d by programs" % (total, size / 1e6, bots), ", ".join("%s: %d" % s for s in sorted(status.items())), "Paths"] + top(paths) + ["Networks"] + top(clients, 5))


def errors(hours):
    found = collections.Counter("%d %s %s" % (h.status, h.method, h.path) for h in hits(hours) if h.status >= 400)
    return "\n".join(top(found, 40)) or "No errors."


def traffic(hours):
    per = collections.Counter(h.time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:00") for h in hits(hours))
    most = max(per.values(), default=1)
    return "\n".join("%s %7d %s" % (k, v, "#" * (v * 40 // most)) for k, v in sorted(per.items())) or "No requests."


HOURS = {"type": "object", "properties": {"hours": {"type": "integer", "minimum": 1, "maximum": 720, "default": 24, "description": "how far back"}}}
TOOLS = {
    "summary": (summary, "Sums up the nginx access logs in %s: requests, status classes, most asked paths and networks." % FOLDER),
    "errors": (errors, "Counts the requests that were answered with 4xx or 5xx, by path."),
    "traffic": (traffic, "Shows the requests per hour (UTC) as a bar chart in text."),
}


def serve(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2024-11-05"), "capabilities": {"tools": {}}, "serverInfo": {"name": "nginx-digest", "version": "1.0.3"},
                "instructions": "Reads files named *access*.log* in %s, compressed ones too, at most %d lines a call. It writes nothing." % (FOLDER, MOST_LINES)}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": HOURS, "annotations": {"readOnlyHint": True, "openWorldHint": False}} for n, (_, d) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        args = params.get("arguments")
        hours = args.get("hours", 24) if isinstance(args, dict) else 24
        if type(hours) is not int or not 1 <= hours <= 720:
            return {"isError": True, "content": [{"type": "text", "text": "hours is a whole number from 1 to 720"}]}
        try:
            return {"content": [{"type": "text", "text": TOOLS[params["name"]][0](hours)}]}
        except (OSError, EOFError) as e:
            return {"isError": True, "content": [{"type": "text", "text": "a log cannot be read: %s" % e}]}
    return None


while line := sys.stdin.readline():
    try:
        request = json.loads(line)
        number = request["id"]
        result = serve(request)
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown method or tool"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **answer}) + "\n")
    sys.stdout.flush()
