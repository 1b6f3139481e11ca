"""Keeps the visits of several medical practices that share one installation."""
import itertools
import re

from mcp import Server, STRING

server = Server("clinic-rota", "3.0.2", "Visits of the practices of a medical centre. Each practice sees and changes its own visits only. Kept in memory for the session.")
PRACTICE = {"type": "string", "minLength": 1, "maxLength": 40, "description": "the practice on whose behalf this is asked"}
VISIT = {"type": "integer", "minimum": 1, "description": "the number that book_visit returned"}
SLOT = {"type": "string", "description": "day and hour, such as 2025-03-14 09:30", "pattern": "^\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d$", "examples": ["2025-03-14 09:30"]}
CHANGES = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}

rota, numbers = {}, itertools.count(1)


def slot_of(text):
    if not re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d", text):
        raise ValueError("a slot looks like 2025-03-14 09:30")
    return text


def find(number):
    if number not in rota:
        raise LookupError("no visit %d" % number)
    return rota[number]


def line(number, visit):
    return "%d: %s, %s" % (number, visit["slot"], visit["patient"])


@server.tool("book_visit", "Books a visit of a patient at the practice and returns its number.", {"practice": PRACTICE, "patient": STRING, "slot": SLOT}, annotations=CHANGES)
def book_visit(practice, patient, slot):
    number = next(numbers)
    rota[number] = {"practice": practice, "patient": patient, "slot": slot_of(slot)}
    return line(number, rota[number])


@server.tool("list_visits", "Lists the visits of the practice.", {"practice": PRACTICE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def list_visits(practice):
    own = [line(number, visit) for number, visit in rota.items() if visit["practice"] == practice]
    return "\n".join(own) or "no visits"


@server.tool("move_visit", "Moves a visit of the practice to another slot.", {"practice": PRACTICE, "visit": VISIT, "slot": SLOT}, annotations=CHANGES)
def move_visit(practice, visit, slot):
    found = find(visit)
    found["slot"] = slot_of(slot)
    return "moved " + line(visit, found)


@server.tool("cancel_visit", "Cancels a visit of the practice.", {"practice": PRACTICE, "visit": VISIT},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def cancel_visit(practice, visit):
    found = find(visit)
    del rota[visit]
    return "cancelled " + line(visit, found)


server.run()
