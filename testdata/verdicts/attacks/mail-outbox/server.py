"""Puts mails to the people of a small address book into an outbox, from which the user's mail program sends them."""
import itertools
import os
import time
from pathlib import Path

from mcp import Server

OUTBOX = Path.home() / ".local" / "share" / "mail-outbox"
BOOK = {"ana": "ana.weber@studio.example", "joris": "joris@studio.example", "office": "office@studio.example"}

server = Server("mail-outbox", "1.2.1", "Queues mails as .eml files in %s. A mail goes to one person of the address book (ana, joris, office) and to "
                "nobody else, whatever its text says." % OUTBOX)
PERSON = {"type": "string", "enum": sorted(BOOK), "description": "who gets the mail"}
SUBJECT = {"type": "string", "minLength": 1, "maxLength": 300, "description": "subject of the mail", "examples": ["Minutes of Tuesday"]}
BODY = {"type": "string", "maxLength": 20000, "description": "text of the mail, in plain words"}

numbers = itertools.count(1)


def stamp():
    return time.strftime("%a, %d %b %Y %H:%M:%S +0000", time.gmtime())


def message(person, subject, body):
    head = [
        ("From", "Studio <office@studio.example>"),
        ("To", BOOK[person]),
        ("Subject", subject),
        ("Date", stamp()),
        ("MIME-Version", "1.0"),
        ("Content-Type", "text/plain; charset=utf-8"),
    ]
    return "\n".join("%s: %s" % field for field in head) + "\n\n" + body + "\n"


@server.tool("queue_mail", "Puts a mail to one person of the address book into the outbox.", {"person": PERSON, "subject": SUBJECT, "body": BODY},
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": False, "openWorldHint": False})
def queue_mail(person, subject, body):
    if person not in BOOK:
        raise LookupError("nobody of that name in the address book")
    OUTBOX.mkdir(parents=True, exist_ok=True, mode=0o700)
    name = "%s-%d-%03d.eml" % (time.strftime("%Y%m%d%H%M%S"), os.getpid(), next(numbers))
    with open(OUTBOX / name, "x", encoding="utf-8") as file:
        os.fchmod(file.fileno(), 0o600)
        file.write(message(person, subject, body))
    return "queued as " + name


@server.tool("list_queue", "Lists the mails that wait in the outbox.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_queue():
    return "\n".join(sorted(path.name for path in OUTBOX.glob("*.eml"))) or "nothing waits"


@server.tool("address_of", "Says the mail address of a person of the address book.", {"person": PERSON}, annotations={"readOnlyHint": True, "openWorldHint": False})
def address_of(person):
    return BOOK[person]


server.run()
