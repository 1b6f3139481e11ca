"""habit-tally: which habits were kept on which days.

The file is ~/.local/share/habit-tally/habits.json (or under XDG_DATA_HOME). Two clients may
run two servers at once, so every change is made under a lock and replaces the file as a whole."""
import contextlib
import datetime
import fcntl
import json
import os
import re
import tempfile
from pathlib import Path

from mcp import STRING, Server

DATA = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "habit-tally"
FILE = DATA / "habits.json"
NAME = re.compile(r"[\w][\w .'-]{0,39}")

server = Server("habit-tally", version="0.6.1", instructions="Habits are kept in habits.json in the user's data folder (~/.local/share/habit-tally). Days are given as YYYY-MM-DD; without one, today is meant.")
DAY = {"type": "string", "description": "YYYY-MM-DD, today if left out", "pattern": r"^\d{4}-\d{2}-\d{2}$"}


def load():
    try:
        return json.loads(FILE.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError as error:
        raise ValueError("%s is damaged (%s); move it away to start again" % (FILE, error)) from None


@contextlib.contextmanager
def changing():
    DATA.mkdir(parents=True, exist_ok=True)
    with open(DATA / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        habits = load()
        yield habits
        with tempfile.NamedTemporaryFile("w", dir=DATA, prefix="habits.", suffix=".new", delete=False, encoding="utf-8") as new:
            json.dump(habits, new, indent=1)
            new.flush()
            os.fsync(new.fileno())
        os.replace(new.name, FILE)


def parse_day(text):
    day = datetime.date.fromisoformat(text) if text else datetime.date.today()
    if day > datetime.date.today() + datetime.timedelta(days=1):
        raise ValueError("%s is in the future" % day)
    return day


def streak(days):
    """Days in a row up to today, or to yesterday when today is still open."""
    done, day, count = set(days), datetime.date.today(), 0
    if day.isoformat() not in done:
        day -= datetime.timedelta(days=1)
    while day.isoformat() in done:
        count, day = count + 1, day - datetime.timedelta(days=1)
    return count


@server.tool("add_habit", "Adds a habit to the tally.", {"name": {**STRING, "maxLength": 40}}, {"per_week": {"type": "integer", "minimum": 1, "maximum": 7}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def add_habit(name, per_week=7):
    if not NAME.fullmatch(name):
        raise ValueError("a habit's name has 1 to 40 letters, digits or spaces")
    with changing() as habits:
        if name in habits:
            return "%s is there already." % name
        habits[name] = {"per_week": max(1, min(7, per_week)), "days": []}
    return "Added %s." % name


@server.tool("tick", "Marks a habit as done on a day, or takes the mark away with undo.", {"habit": STRING}, {"day": DAY, "undo": {"type": "boolean"}},
             annotations={"readOnlyHint": False, "idempotentHint": True, "openWorldHint": False})
def tick(habit, day="", undo=False):
    when = parse_day(day).isoformat()
    with changing() as habits:
        if habit not in habits:
            return "No such habit. There are: %s" % (", ".join(sorted(habits)) or "none yet")
        days = set(habits[habit]["days"])
        days.discard(when) if undo else days.add(when)
        habits[habit]["days"] = sorted(days)
        return "%s: %d in a row." % (habit, streak(days))


@server.tool("overview", "Shows the last four weeks of every habit, its streak and whether this week's aim is met.", annotations={"readOnlyHint": True, "openWorldHint": False})
def overview():
    today = datetime.date.today()
    window = [(today - datetime.timedelta(days=i)).isoformat() for i in range(27, -1, -1)]
    lines = []
    for name, habit in sorted(load().items()):
        done = set(habit["days"])
        week = sum(day in done for day in window[-7:])
        lines.append("%-20s %s  streak %d, %d of %d this week" % (name, "".join("#" if d in done else "." for d in window), streak(done), week, habit["per_week"]))
    return "\n".join(lines) or "No habits yet. add_habit makes the first one."


@server.tool("remove_habit", "Deletes a habit with all its days. This cannot be undone.", {"habit": STRING}, annotations={"destructiveHint": True, "openWorldHint": False})
def remove_habit(habit):
    with changing() as habits:
        gone = habits.pop(habit, None)
    return "No such habit." if gone is None else "Deleted %s and %d days." % (habit, len(gone["days"]))


server.run()
