#!/usr/bin/env python3
"""leitner-deck: flash cards in five boxes.

What happens is appended to ~/.leitner-deck/log.jsonl, and the deck is what the log adds up to.
At the start, a log of more than COMPACT lines is rewritten to one line a card."""
import csv
import datetime
import hashlib
import io
import json
import os
import sys

FOLDER = os.path.join(os.path.expanduser("~"), ".leitner-deck")
LOG = os.path.join(FOLDER, "log.jsonl")
WAIT = {1: 1, 2: 2, 3: 5, 4: 10, 5: 30}  # days until a card of a box is asked again
COMPACT = 2000
INFO = "Cards and answers are stored in ~/.leitner-deck. Ask a card with due_cards, then tell answer_card whether it was known."


def today():
    return datetime.date.today()


def entries():
    try:
        with open(LOG, encoding="utf-8") as log:
            for line in log:
                try:
                    yield json.loads(line)
                except ValueError:
                    print("leitner-deck: skipped a damaged line of the log", file=sys.stderr)
    except FileNotFoundError:
        return


def deck():
    cards = {}
    for entry in entries():
        if entry["event"] == "card":
            cards[entry["id"]] = {k: entry[k] for k in ("id", "front", "back", "box", "due")}
        elif entry["id"] in cards:
            cards[entry["id"]].update(box=entry["box"], due=entry["due"])
    return cards


def append(records):
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    with open(LOG, "a", encoding="utf-8") as log:
        log.write("".join(json.dumps(r) + "\n" for r in records))


def compact():
    if sum(1 for _ in entries()) <= COMPACT:
        return
    with open(LOG + ".tmp", "w", encoding="utf-8") as out:
        for card in deck().values():
            out.write(json.dumps({"event": "card", **card}) + "\n")
    os.replace(LOG + ".tmp", LOG)


def card(front, back):
    front, back = front.strip()[:500], back.strip()[:2000]
    if not front or not back:
        raise ValueError("a card needs a front and a back")
    digest = hashlib.sha1(json.dumps([front, back]).encode()).hexdigest()[:8]
    return {"event": "card", "id": digest, "front": front, "back": back, "box": 1, "due": today().isoformat()}


def add_cards(args):
    known = deck()
    rows = [row for row in csv.reader(io.StringIO(args["csv"])) if any(cell.strip() for cell in row)][:500]
    if any(len(row) < 2 for row in rows):
        raise ValueError("each line needs two cells: front, back")
    new = {c["id"]: c for c in (card(row[0], row[1]) for row in rows) if c["id"] not in known}
    append(new.values())
    return "Added %d cards, %d were there already." % (len(new), len(rows) - len(new))


def due_cards(args):
    limit = min(max(args.get("limit", 10), 1), 50)
    waiting = sorted((c for c in deck().values() if c["due"] <= today().isoformat()), key=lambda c: (c["due"], c["box"]))
    return "\n".join("%s  [box %d]  %s" % (c["id"], c["box"], c["front"]) for c in waiting[:limit]) or "Nothing is due today."


def answer_card(args):
    found = deck().get(args["id"])
    if not found:
        return "No card has this id."
    box = min(found["box"] + 1, 5) if args["known"] else 1
    due = (today() + datetime.timedelta(days=WAIT[box])).isoformat()
    append([{"event": "answer", "id": found["id"], "known": args["known"], "box": box, "due": due}])
    return "Back: %s\nIt is now in box %d, and due on %s." % (found["back"], box, due)


TEXT = {"type": "string"}
TOOLS = {
    "add_cards": (add_cards, "Adds cards from CSV text with a front and a back on each line.", {"csv": {**TEXT, "examples": ["der Hund,dog\ndie Katze,cat"]}}, ["csv"], {"destructiveHint": False}),
    "due_cards": (due_cards, "Lists the fronts of the cards that are due.", {"limit": {"type": "integer", "minimum": 1, "maximum": 50}}, [], {"readOnlyHint": True}),
    "answer_card": (answer_card, "Records whether a card was known, shows its back and moves it to its next box.", {"id": TEXT, "known": {"type": "boolean"}}, ["id", "known"], {}),
}
KINDS = {"string": str, "integer": int, "boolean": bool}


def call(name, args):
    function, _, properties, required, _ = TOOLS[name]
    bad = [k for k in required if k not in args] + [k for k, s in properties.items() if k in args and type(args[k]) is not KINDS[s["type"]]]
    try:
        if bad:
            raise ValueError("missing or wrong: " + ", ".join(bad))
        return {"content": [{"type": "text", "text": function(args)}]}
    except (OSError, ValueError, csv.Error) as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-03-26"), "capabilities": {"tools": {}}, "serverInfo": {"name": "leitner-deck", "version": "2.0.3"}, "instructions": INFO}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "annotations": hints, "inputSchema": {"type": "object", "properties": p, "required": r}} for n, (_, d, p, r, hints) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in list(TOOLS):
        return call(params["name"], params["arguments"] if isinstance(params.get("arguments"), dict) else {})
    return {} if method == "ping" else None


try:
    compact()
except OSError as error:
    print("leitner-deck: %s" % error, file=sys.stderr)
for line in sys.stdin.buffer:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or message.get("id") is None:
        continue
    result = answer(message.get("method"), message["params"] if isinstance(message.get("params"), dict) else {})
    reply = {"error": {"code": -32601, "message": "no such method or tool"}} if result is None else {"result": result}
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}).encode() + b"\n")
    sys.stdout.buffer.flush()
