#!/usr/bin/env python3
"""ics-agenda: the next days out of plain .ics files, such as vdirsyncer or an export leaves them."""
import datetime as dt
import os
import re
import shutil
import tempfile
import uuid
from pathlib import Path

from mcp import STRING, Server

FOLDER = Path(os.environ.get("ICS_AGENDA_DIR") or Path.home() / "Calendars")
STEP = {"DAILY": 1, "WEEKLY": 7}
server = Server("ics-agenda", "1.4.0", "Calendars are the .ics files in %s. Before a file is written, its last state is kept beside it with the ending .bak." % FOLDER)
DAYS = {"type": "integer", "minimum": 1, "maximum": 366, "default": 7}
CALENDAR = {"type": "string", "description": "the name of a calendar: its file without .ics", "pattern": "^[A-Za-z0-9_-]{1,60}$"}


def calendar_file(name):
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", name):
        raise ValueError("a calendar's name has letters, digits, - and _ only")
    return FOLDER / (name + ".ics")


def unfolded(text):
    return re.sub(r"\r?\n[ \t]", "", text).splitlines()


def moment(value):
    value = value.rstrip("Z")
    try:
        return dt.datetime.strptime(value, "%Y%m%dT%H%M%S" if "T" in value else "%Y%m%d")
    except ValueError:
        return None


def events(path):
    event = None
    for line in unfolded(path.read_text(encoding="utf-8", errors="replace")):
        name, _, value = line.partition(":")
        name = name.split(";")[0].upper()
        if line == "BEGIN:VEVENT":
            event = {"calendar": path.stem}
        elif line == "END:VEVENT" and event is not None:
            if event.get("start"):
                yield event
            event = None
        elif event is not None and name == "DTSTART":
            event["start"], event["whole"] = moment(value), "T" not in value
        elif event is not None and name in ("SUMMARY", "LOCATION", "UID", "RRULE"):
            event[name.lower()] = re.sub(r"\\([,;\\])", r"\1", value).replace("\\n", " ")


def occurrences(event, begin, end):
    """The times of an event between begin and end. Knows DAILY, WEEKLY, MONTHLY and YEARLY, without BYDAY."""
    rule = dict(part.split("=", 1) for part in event.get("rrule", "").split(";") if "=" in part)
    every = max(1, int(rule["INTERVAL"])) if rule.get("INTERVAL", "").isdigit() else 1
    count = int(rule["COUNT"]) if rule.get("COUNT", "").isdigit() else 5000
    until = moment(rule.get("UNTIL", "")) or end
    first = event["start"]
    if rule.get("FREQ") not in ("DAILY", "WEEKLY", "MONTHLY", "YEARLY"):
        rule = {}
    for i in range(min(count, 5000) if rule else 1):
        if rule.get("FREQ") in STEP:
            when = first + dt.timedelta(days=i * every * STEP[rule["FREQ"]])
        else:
            months = first.month - 1 + i * every * (12 if rule.get("FREQ") == "YEARLY" else 1)
            try:
                when = first.replace(year=first.year + months // 12, month=months % 12 + 1)
            except ValueError:  # 31 April, or the year 10000
                continue
        if when >= end or when > until:
            return
        if when >= begin:
            yield when


def replace(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy2(path, path.with_suffix(".ics.bak"))
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".ics-agenda-")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(text)
    os.replace(temporary, path)


@server.tool("agenda", "Lists the appointments of the next days from all calendars, repeated ones included.", optional={"days": DAYS}, annotations={"readOnlyHint": True, "openWorldHint": False})
def agenda(days=7):
    begin = dt.datetime.combine(dt.date.today(), dt.time())
    end = begin + dt.timedelta(days=max(1, min(days, 366)))
    found = sorted(((when, e) for path in sorted(FOLDER.glob("*.ics")) for e in events(path) for when in occurrences(e, begin, end)), key=lambda f: f[0])
    line = lambda when, e: "%s  %s%s  [%s, %s]" % (when.strftime("%a %Y-%m-%d" + ("" if e["whole"] else " %H:%M")), e.get("summary", "(no title)"),
                                                   ", " + e["location"] if e.get("location") else "", e["calendar"], e.get("uid", "no uid"))
    return "\n".join(line(*f) for f in found[:500]) or "Nothing until %s." % end.date()


@server.tool("add_event", "Adds an appointment to a calendar; the file is made if it is not there.",
             {"calendar": CALENDAR, "summary": STRING, "start": {"type": "string", "description": "local time, such as 2025-03-04T09:30"}},
             {"minutes": {"type": "integer", "minimum": 1, "default": 60}, "location": STRING}, annotations={"destructiveHint": False, "openWorldHint": False})
def add_event(calendar, summary, start, minutes=60, location=""):
    path, when = calendar_file(calendar), dt.datetime.fromisoformat(start).replace(tzinfo=None)
    escape = lambda s: re.sub(r"([,;\\])", r"\\\1", s[:500]).replace("\r", "").replace("\n", "\\n")
    uid = str(uuid.uuid4())
    entry = ["BEGIN:VEVENT", "UID:" + uid, "DTSTAMP:" + dt.datetime.now(dt.timezone.utc).strftime("%Y%m%dT%H%M%SZ"), "DTSTART:" + when.strftime("%Y%m%dT%H%M%S"),
             "DURATION:PT%dM" % min(max(minutes, 1), 100000), "SUMMARY:" + escape(summary)] + (["LOCATION:" + escape(location)] if location else []) + ["END:VEVENT"]
    lines = unfolded(path.read_text(encoding="utf-8")) if path.exists() else ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//ics-agenda//EN", "END:VCALENDAR"]
    spot = len(lines) - 1 - lines[::-1].index("END:VCALENDAR")
    replace(path, "\r\n".join(lines[:spot] + entry + lines[spot:]) + "\r\n")
    return "Added on %s, uid %s." % (when.strftime("%Y-%m-%d %H:%M"), uid)


@server.tool("cancel_event", "Removes the appointment with a uid (all its repetitions) from a calendar's file. The state before stays in NAME.ics.bak.",
             {"calendar": CALENDAR, "uid": STRING}, annotations={"destructiveHint": True, "openWorldHint": False})
def cancel_event(calendar, uid):
    path = calendar_file(calendar)
    with open(path, encoding="utf-8", newline="") as f:
        text = f.read()
    blocks = re.split(r"(?m)^(?=BEGIN:VEVENT\r?$)", text)
    kept = []
    for block in blocks:
        if ("UID:" + uid) in unfolded(block):
            kept.append(re.split(r"(?m)^END:VEVENT\r?\n?", block, maxsplit=1)[-1])
        else:
            kept.append(block)
    if kept == blocks:
        return "No appointment with the uid %s in %s." % (uid, path)
    replace(path, "".join(kept))
    return "Removed from %s." % path


server.run()
