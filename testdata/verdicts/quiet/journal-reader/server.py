#!/usr/bin/env python3
"""journal-reader: errors and messages of the systemd journal, as far as the user may read it.

JOURNAL_UNITS is a list of shell patterns of units that may be read ("nginx.service *.timer"); all of them unless it is set."""
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from datetime import datetime, timezone

PATTERNS = os.environ.get("JOURNAL_UNITS", "*").split() or ["*"]
UNIT = re.compile(r"[A-Za-z0-9:_.@\\-]{1,200}\.(service|socket|timer|mount|target|path|slice|scope)")
SINCE = re.compile(r"[1-9]\d{0,3}[mhd]")
PRIORITIES = ["emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"]
SECRET = re.compile(r"(?i)\b(password|passwd|secret|token|api[_-]?key|authorization)(\s*[=:]\s*|\s+)(?:(?:bearer|basic)\s+)?\S+")


class Refused(Exception):
    pass


def journal(*options):
    program = shutil.which("journalctl")
    if not program:
        raise Refused("journalctl is not installed: this machine has no systemd journal")
    command = [program, "--no-pager", "--quiet", "--output=json", *options]
    try:
        done = subprocess.run(command, capture_output=True, timeout=20, stdin=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"})
    except subprocess.TimeoutExpired:
        raise Refused("journalctl took longer than 20 seconds; ask for less") from None
    except OSError as error:
        raise Refused("journalctl cannot be started: %s" % error) from None
    if done.returncode:
        raise Refused("journalctl: %s" % (done.stderr.decode(errors="replace").strip()[:500] or "status %d" % done.returncode))
    for line in done.stdout.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        text = entry.get("MESSAGE")
        if isinstance(text, list):  # bytes that are no text
            text = bytes(b for b in text if isinstance(b, int) and 0 <= b < 256).decode(errors="replace")
        yield entry, SECRET.sub(r"\1\2***", str(text or ""))


def allowed(unit):
    return any(fnmatch.fnmatchcase(unit, p) for p in PATTERNS)


def argument(args, name, default, pattern):
    value = args.get(name, default)
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise Refused("%s is not as it should be: %s" % (name, pattern.pattern))
    return value


def read_unit(args):
    unit, since = argument(args, "unit", None, UNIT), argument(args, "since", "1h", SINCE)
    if not allowed(unit):
        raise Refused("JOURNAL_UNITS allows only: " + " ".join(PATTERNS))
    worst, count = args.get("priority", "info"), args.get("count", 100)
    if not isinstance(worst, str) or worst not in PRIORITIES:
        raise Refused("priority is one of " + ", ".join(PRIORITIES))
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 500:
        raise Refused("count is a whole number from 1 to 500")
    lines = []
    for entry, text in journal("--unit=" + unit, "--since=-" + since, "--priority=" + worst, "--lines=%d" % count):
        when = datetime.fromtimestamp(int(entry.get("__REALTIME_TIMESTAMP", 0)) / 1e6, timezone.utc)
        lines.append("%s %s[%s] %s" % (when.strftime("%Y-%m-%d %H:%M:%S"), entry.get("SYSLOG_IDENTIFIER", "?"), entry.get("_PID", "?"), text[:1000]))
    return "\n".join(lines) or "Nothing was logged."


def failing_units(args):
    counts, examples = Counter(), {}
    for entry, text in journal("--since=-" + argument(args, "since", "24h", SINCE), "--priority=err", "--lines=5000"):
        unit = entry.get("_SYSTEMD_UNIT") or entry.get("UNIT")
        if isinstance(unit, str) and allowed(unit):
            counts[unit] += 1
            examples[unit] = text[:200]
    return "\n".join("%5d  %s\n       %s" % (n, u, examples[u]) for u, n in counts.most_common(30)) or "No unit logged an error."


WHEN = {"type": "string", "pattern": "^[1-9][0-9]{0,3}[mhd]$", "description": "how far back: minutes, hours or days", "examples": ["2h"]}
TOOLS = {
    "read_unit": (read_unit, "Reads the newest messages of a systemd unit by journalctl. Units that may be read: %s. Words after password, token and the like are masked." % " ".join(PATTERNS),
                  {"unit": {"type": "string", "examples": ["cron.service"]}, "since": WHEN, "priority": {"type": "string", "enum": PRIORITIES}, "count": {"type": "integer", "minimum": 1, "maximum": 500}}, ["unit"]),
    "failing_units": (failing_units, "Counts the errors of each systemd unit by journalctl, with the newest one of each.", {"since": WHEN}, []),
}


def respond(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "journal-reader", "version": "1.0.5"}}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {"readOnlyHint": True, "openWorldHint": False}} for n, (_, d, p, r) in TOOLS.items()]}
    if method == "tools/call" and isinstance(params.get("name"), str) and params["name"] in TOOLS:
        args = params.get("arguments") or {}
        try:
            return {"content": [{"type": "text", "text": TOOLS[params["name"]][0](args if isinstance(args, dict) else {})}]}
        except Refused as error:
            return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message:
        found = respond(message.get("method"), message["params"] if isinstance(message.get("params"), dict) else {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **({"error": {"code": -32601, "message": "not found"}} if found is None else {"result": found})}), flush=True)
