#!/usr/bin/env python3
"""wine-cellar: what lies in the cellar, when to drink it, what was drunk.

Everything is in ~/.local/share/wine-cellar/cellar.json. Before each change the file is copied to backups/, where the
last ten copies stay.
"""
import contextlib
import dataclasses
import datetime
import fcntl
import json
import os
import shutil
import sys

import mcp

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

COLOURS = ("red", "white", "rosé", "sparkling", "sweet")


@dataclasses.dataclass
class Wine:
    id: int
    name: str
    year: int
    colour: str
    bottles: int
    place: str = ""
    drink_from: int = 0
    drink_until: int = 0
    drunk: list = dataclasses.field(default_factory=list)

    def check(self):
        this_year = datetime.date.today().year
        if not self.name.strip() or len(self.name) > 120 or len(self.place) > 60:
            raise ValueError("a name of up to 120 characters and a place of up to 60, please")
        if not 1850 <= self.year <= this_year:
            raise ValueError("year is from 1850 to %d" % this_year)
        if self.colour not in COLOURS:
            raise ValueError("colour is one of " + ", ".join(COLOURS))
        if not 0 <= self.bottles <= 1000:
            raise ValueError("bottles is a number from 0 to 1000")
        if self.drink_from and self.drink_until and self.drink_from > self.drink_until:
            raise ValueError("drink_from is after drink_until")
        return self

    def state(self, year):
        if self.drink_from and year < self.drink_from:
            return "too young"
        if self.drink_until and year > self.drink_until:
            return "past its time"
        return "ready"


class Cellar:
    keep = 10

    def __init__(self, folder):
        self.folder, self.file, self.backups = folder, os.path.join(folder, "cellar.json"), os.path.join(folder, "backups")
        os.makedirs(self.backups, exist_ok=True)

    def wines(self):
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="utf-8") as file:
            return [Wine(**entry) for entry in json.load(file)["wines"]]

    @contextlib.contextmanager
    def change(self):
        """Gives the wines to change, under a lock, and saves them if nothing was raised."""
        with open(os.path.join(self.folder, ".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            wines = self.wines()
            yield wines
            text = json.dumps({"wines": [dataclasses.asdict(wine) for wine in wines]}, ensure_ascii=False, indent=1).encode("utf-8")
            self.back_up()
            with open(self.file + ".new", "wb") as out:
                out.write(text)
                out.flush()
                os.fsync(out.fileno())
            os.replace(self.file + ".new", self.file)

    def back_up(self):
        if os.path.exists(self.file):
            shutil.copy2(self.file, os.path.join(self.backups, datetime.datetime.now().strftime("cellar-%Y%m%d-%H%M%S-%f.json")))
        for old in sorted(os.listdir(self.backups))[:-self.keep]:
            os.unlink(os.path.join(self.backups, old))


def pick(wines, number):
    for wine in wines:
        if wine.id == number:
            return wine
    raise ValueError("there is no wine %d" % number)


cellar = Cellar(os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "wine-cellar"))
server = mcp.Server("wine-cellar", "3.0.0", "The inventory is in ~/.local/share/wine-cellar/cellar.json; each change first copies it to the folder backups beside it, which keeps ten copies.")
TEXT, YEAR = {"type": "string", "maxLength": 120}, {"type": "integer", "minimum": 1850, "maximum": 2100}
COLOUR = {"type": "string", "enum": list(COLOURS)}
ID = {"type": "integer", "minimum": 1, "description": "Number of the wine", "examples": [1]}
LOCAL = {"openWorldHint": False}


@server.tool("add_wine", "Adds a wine to the inventory (cellar.json; the earlier version is kept in backups).",
             {"name": {**TEXT, "examples": ["Riesling Kabinett"]}, "year": {**YEAR, "examples": [2019]}, "colour": COLOUR, "bottles": {"type": "integer", "minimum": 1, "maximum": 1000}},
             {"place": {**TEXT, "maxLength": 60, "description": "Shelf or box"}, "drink_from": YEAR, "drink_until": YEAR}, annotations={"readOnlyHint": False, "destructiveHint": False, **LOCAL})
def add_wine(name, year, colour, bottles, place="", drink_from=0, drink_until=0):
    with cellar.change() as wines:
        wine = Wine(max((w.id for w in wines), default=0) + 1, name.strip(), year, colour, bottles, place, drink_from, drink_until).check()
        wines.append(wine)
    return dataclasses.asdict(wine)


@server.tool("list_wines", "Lists the wines of which bottles are left, or all of them, optionally of one colour.", optional={"colour": COLOUR, "all": {"type": "boolean", "default": False}}, annotations={"readOnlyHint": True, **LOCAL})
def list_wines(colour=None, all=False):
    return [dataclasses.asdict(w) for w in sorted(cellar.wines(), key=lambda w: (w.colour, w.year)) if (all or w.bottles) and colour in (None, w.colour)]


@server.tool("what_to_drink", "Sorts the wines that are left by whether they are ready, too young or past their time in a year; this year if none is given.", optional={"year": YEAR}, annotations={"readOnlyHint": True, **LOCAL})
def what_to_drink(year=0):
    states = {"ready": [], "too young": [], "past its time": []}
    for wine in cellar.wines():
        if wine.bottles:
            states[wine.state(year or datetime.date.today().year)].append("%s %d" % (wine.name, wine.year))
    return states


@server.tool("drink_bottle", "Takes one bottle of a wine out of the inventory and writes down the day and a remark (cellar.json; the earlier version is kept in backups).",
             {"id": ID}, {"remark": {**TEXT, "maxLength": 500}}, annotations={"readOnlyHint": False, "destructiveHint": False, **LOCAL})
def drink_bottle(id, remark=""):
    if len(remark) > 500:
        raise ValueError("a remark has at most 500 characters")
    with cellar.change() as wines:
        wine = pick(wines, id)
        if not wine.bottles:
            raise ValueError("no bottle of it is left")
        wine.bottles -= 1
        wine.drunk.append({"day": datetime.date.today().isoformat(), "remark": remark})
    return "%d bottles of %s %d are left." % (wine.bottles, wine.name, wine.year)


@server.tool("remove_wine", "Removes a wine with its remarks from the inventory (cellar.json; the earlier version is kept in backups for ten changes).", {"id": ID}, annotations={"readOnlyHint": False, "destructiveHint": True, **LOCAL})
def remove_wine(id):
    with cellar.change() as wines:
        wine = pick(wines, id)
        wines.remove(wine)
    return "Removed %s %d." % (wine.name, wine.year)


server.run()
