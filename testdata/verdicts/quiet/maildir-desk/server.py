"""A small mail desk over a Maildir of its own."""
import email.message
import itertools
import json
import mailbox
import os
import sys
import time

PLACE = os.path.expanduser("~/.local/share/maildir-desk/Mail")


def box():
    os.makedirs(os.path.dirname(PLACE), mode=0o700, exist_ok=True)
    return mailbox.Maildir(PLACE, create=True)


def messages(desk):
    found = ((key, desk[key]) for key in sorted(desk.keys()))
    return [(n, key, m) for n, (key, m) in enumerate(found, 1)]


def draft(subject, text):
    desk, message = box(), email.message.EmailMessage()
    message["Subject"], message["From"], message["Date"] = " ".join(subject.split())[:200] or "(none)", "desk@localhost", email.utils.formatdate()
    message.set_content(text[:20000])
    desk.add(mailbox.MaildirMessage(message))
    return "Put into the inbox: %s" % message["Subject"]


def inbox():
    rows = ["%3d %s %s" % (n, "seen" if "S" in m.get_flags() else "new ", m["Subject"]) for n, _, m in messages(box()) if "T" not in m.get_flags()]
    return "\n".join(rows) or "The inbox is empty."


def mark(number, flag, word):
    desk = box()
    for n, key, m in messages(desk):
        if n == number:
            m.set_subdir("cur")
            m.add_flag(flag)
            desk[key] = m
            return "%s: %s" % (word, m["Subject"])
    return "There is no message %d." % number


def tidy(days=0):
    desk, gone = box(), 0
    for _, key, m in messages(desk):
        if "T" in m.get_flags() and time.time() - m.get_date() >= days * 86400:
            desk.discard(key)
            gone += 1
    desk.clean()
    return "%d messages in the trash have expired." % gone


N = {"type": "integer", "minimum": 1}
S = {"type": "string"}
TOOLS = {
    "draft_message": (draft, "Puts a message into the inbox of the own mail desk, as a reminder to oneself. Nothing is sent.", {"subject": S, "text": S}, {}, False),
    "inbox": (inbox, "Lists the messages of the own mail desk.", {}, {}, None),
    "mark_seen": (lambda number: mark(number, "S", "Seen"), "Marks a message as seen.", {"number": {**N, "default": 1}}, {}, None),
    "bin_message": (lambda number: mark(number, "T", "Binned"), "Marks a message as rubbish; it stays until it expires.", {"number": {**N, "default": 1}}, {}, None),
    "expire_rubbish": (tidy, "Lets messages that are marked as rubbish expire once they are older than some days; they are gone then.", {}, {"days": {"type": "integer", "minimum": 0}}, None),
}


def respond(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "maildir-desk", "version": "1.0.0"},
                "instructions": "Keeps messages to oneself in " + PLACE}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": {**r, **o}, "required": list(r)}} for n, (_, d, r, o, _) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        run, _, required, optional, _ = TOOLS[params["name"]]
        known, given = {**required, **optional}, params.get("arguments") or {}
        kinds = {"string": str, "integer": int}
        if set(required) - set(given) or any(k in given and (not isinstance(given[k], kinds[known[k]["type"]]) or isinstance(given[k], bool)) for k in known):
            return {"isError": True, "content": [{"type": "text", "text": "The arguments do not fit."}]}
        text = run(**{k: given[k] for k in known if k in given})
        return {"content": [{"type": "text", "text": text}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    try:
        m = json.loads(line)
        ident, method = m["id"], m["method"]
    except (ValueError, KeyError, TypeError):
        continue
    found = respond(method, m.get("params") or {})
    print(json.dumps({"jsonrpc": "2.0", "id": ident, **({"result": found} if found is not None else {"error": {"code": -32601, "message": "unknown"}})}), flush=True)
