"""chained-log: a log that shows when somebody has changed it. Each line holds the SHA-256 of the line before."""
import argparse
import datetime
import fcntl
import hashlib
import json
import os
from pathlib import Path

from mcp import STRING, Server

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--log", type=Path, default=Path("chained-log.jsonl"))
LOG = parser.parse_args().log
GENESIS = "0" * 64

server = Server("chained-log", version="1.1.0", instructions="Entries are appended to %s in the working folder, and never changed or removed. Write down the last hash elsewhere from time to time: with it, a cut end is found too." % LOG)


def digest(line):
    return hashlib.sha256(line.rstrip(b"\n")).hexdigest()


def lines():
    try:
        with LOG.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return


def walk():
    """Gives each entry's number, hash and content, and what is wrong with it."""
    before = GENESIS
    for number, line in enumerate(lines(), 1):
        problem = None
        try:
            entry = json.loads(line)
            if entry["before"] != before:
                problem = "does not follow line %d" % (number - 1)
        except (ValueError, KeyError, TypeError):
            entry, problem = {}, "cannot be read"
        before = digest(line)
        yield number, before, entry, problem


@server.tool("append_entry", "Appends an entry to the log, with the time and the hash of the entry before, and answers its own hash.", {"text": {**STRING, "maxLength": 4000}}, {"who": {**STRING, "maxLength": 60}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False},
             outputSchema={"type": "object", "properties": {"number": {"type": "integer"}, "hash": STRING}, "required": ["number", "hash"]})
def append_entry(text, who=""):
    if not text.strip() or len(text) > 4000:
        raise ValueError("an entry has 1 to 4000 characters")
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        number, before, entry, problem = 0, GENESIS, {}, None
        for number, before, entry, problem in walk():
            pass
        if problem:
            raise ValueError("line %d of %s %s; run verify_log" % (number, LOG, problem))
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        line = json.dumps({"at": now, "who": who[:60], "text": text, "before": before}, sort_keys=True, ensure_ascii=False).encode() + b"\n"
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
    made = {"number": number + 1, "hash": digest(line)}
    return {"structuredContent": made, "content": [{"type": "text", "text": json.dumps(made)}]}


@server.tool("verify_log", "Checks that no line of the log was changed, removed or put in, and that a known hash is among its lines.", optional={"known_hash": {**STRING, "pattern": "^[0-9a-f]{64}$"}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def verify_log(known_hash=""):
    problems, seen, last, number = [], set(), GENESIS, 0
    for number, last, _, problem in walk():
        seen.add(last)
        if problem:
            problems.append("line %d %s" % (number, problem))
    if known_hash and known_hash not in seen:
        problems.append("no line has the known hash: the log was changed before it, or cut off")
    return "\n".join(problems[:50]) or "All %d lines are in order. The last hash is %s." % (number, last)


@server.tool("last_entries", "Shows the latest entries, optionally only those that contain a word.", optional={"count": {"type": "integer", "minimum": 1, "maximum": 100}, "containing": STRING}, annotations={"readOnlyHint": True, "openWorldHint": False})
def last_entries(count=10, containing=""):
    found = [(n, e) for n, _, e, p in walk() if not p and containing.lower() in str(e.get("text", "")).lower()]
    return "\n".join("%d  %s  %s%s" % (n, e.get("at"), "%s: " % e["who"] if e.get("who") else "", e.get("text")) for n, e in found[-max(1, min(100, count)):]) or "No entries."


server.run()
