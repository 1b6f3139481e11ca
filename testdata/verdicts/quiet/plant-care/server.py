#!/usr/bin/env python3
"""plant-care: when which plant was watered. Kept in ~/.local/share/plant-care/plants.db (or PLANT_CARE_DB)."""
import os
import re
import shutil
import sqlite3
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from mcp import Server

DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "plant-care"
DB = Path(os.environ.get("PLANT_CARE_DB") or DATA / "plants.db")
STEPS = [
    "CREATE TABLE plant (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE COLLATE NOCASE, every INTEGER NOT NULL CHECK (every BETWEEN 1 AND 90), added TEXT NOT NULL);"
    "CREATE TABLE watering (plant INTEGER NOT NULL REFERENCES plant ON DELETE CASCADE, day TEXT NOT NULL, UNIQUE (plant, day));",
    "ALTER TABLE plant ADD COLUMN place TEXT NOT NULL DEFAULT '';",
]

server = Server("plant-care", version="2.0.0", instructions="Plants are kept in %s; before a new version changes that file, a copy is kept beside it. Dates are written like 2026-05-04." % DB)


def connect():
    DB.parent.mkdir(parents=True, exist_ok=True)
    db = sqlite3.connect(DB, timeout=5, isolation_level=None)
    try:
        db.execute("PRAGMA foreign_keys = ON")
        version = db.execute("PRAGMA user_version").fetchone()[0]
        if version > len(STEPS):
            raise RuntimeError("%s was made by a newer plant-care" % DB)
        if 0 < version < len(STEPS):
            shutil.copy2(DB, "%s.v%d" % (DB, version))
        for number, step in enumerate(STEPS[version:], version + 1):
            db.executescript("BEGIN IMMEDIATE;%sPRAGMA user_version = %d;COMMIT;" % (step, number))
    except BaseException:
        db.close()
        raise
    return closing(db)


def line(value, name, longest=60, empty=False):
    value = value.strip()
    if not (value or empty) or len(value) > longest or not value.isprintable():
        raise ValueError("%s is one line of at most %d characters" % (name, longest))
    return value


def day(value):
    if value is None:
        return date.today()
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        raise ValueError("a date is written like 2026-05-04")
    found = date.fromisoformat(value)
    if not date(2000, 1, 1) <= found <= date.today():
        raise ValueError("the date lies in the future or before 2000")
    return found


def plant(db, name):
    row = db.execute("SELECT id, name, every FROM plant WHERE name = ?", (line(name, "plant"),)).fetchone()
    if not row:
        raise ValueError("there is no such plant")
    return row


PLANT = {"type": "string", "maxLength": 60, "examples": ["Monstera"]}
LOCAL = {"openWorldHint": False}


@server.tool("list_plants", "Lists the plants, when each was watered last and when it is due.")
def list_plants():
    with connect() as db:
        rows = db.execute("SELECT name, place, every, COALESCE(MAX(day), added), MAX(day) FROM plant LEFT JOIN watering ON plant = id GROUP BY id ORDER BY name").fetchall()
    lines = []
    for name, place, every, since, last in rows:
        due = date.fromisoformat(since) + timedelta(days=every if last else 0)
        lines.append("%s%s: %s, %s" % (name, " (%s)" % place if place else "", "watered " + last if last else "never watered", "due today or earlier" if due <= date.today() else "due %s" % due))
    return "\n".join(lines) or "There are no plants yet."


@server.tool("add_plant", "Adds a plant that wants water every so many days.",
             required={"plant": PLANT, "every": {"type": "integer", "minimum": 1, "maximum": 90, "description": "days"}}, optional={"place": {"type": "string", "maxLength": 60}},
             annotations={**LOCAL, "readOnlyHint": False, "destructiveHint": False})
def add_plant(plant, every, place=""):
    if isinstance(every, bool) or not 1 <= every <= 90:
        raise ValueError("every is 1 to 90 days")
    with connect() as db:
        try:
            db.execute("INSERT INTO plant (name, every, added, place) VALUES (?, ?, ?, ?)", (line(plant, "plant"), every, date.today().isoformat(), line(place, "place", empty=True)))
        except sqlite3.IntegrityError:
            raise ValueError("there is such a plant already") from None
    return "Added."


@server.tool("water", "Notes that a plant was watered, today unless told. Nothing is noted twice for a day.",
             required={"plant": PLANT}, optional={"date": {"type": "string", "format": "date"}}, annotations={**LOCAL, "readOnlyHint": False, "destructiveHint": False, "idempotentHint": True})
def water(**args):
    when = day(args.get("date"))
    with connect() as db:
        ident, name, every = plant(db, args["plant"])
        db.execute("INSERT OR IGNORE INTO watering VALUES (?, ?)", (ident, when.isoformat()))
    return "%s, again by %s." % (name, when + timedelta(days=every))


@server.tool("remove_plant", "Removes a plant and its waterings for good.", required={"plant": PLANT}, annotations={**LOCAL, "readOnlyHint": False, "destructiveHint": True})
def remove_plant(**args):
    with connect() as db:
        ident, name, _ = plant(db, args["plant"])
        db.execute("DELETE FROM plant WHERE id = ?", (ident,))
    return "Removed %s." % name


server.run()
