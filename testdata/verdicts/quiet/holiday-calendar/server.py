"""Public holidays of a few countries. What was computed is kept in the cache directory for the next time."""
import datetime as dt
import json
import os
import tempfile

from mcp import Server

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "holiday-calendar")
FIXED = {
    "AT": {(1, 1): "Neujahr", (5, 1): "Staatsfeiertag", (10, 26): "Nationalfeiertag", (12, 25): "Christtag"},
    "FR": {(1, 1): "Jour de l'an", (5, 8): "Victoire 1945", (7, 14): "Fête nationale", (12, 25): "Noël"},
    "US": {(1, 1): "New Year's Day", (7, 4): "Independence Day", (11, 11): "Veterans Day", (12, 25): "Christmas Day"},
}
MOVING = {"AT": {1: "Ostermontag", 39: "Christi Himmelfahrt", 50: "Pfingstmontag"}, "FR": {1: "Lundi de Pâques", 39: "Ascension"}, "US": {}}


def easter(year):
    a, b, c = year % 19, year // 100, year % 100
    h = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    l = (32 + 2 * (b % 4) + 2 * (c // 4) - h - c % 4) % 7
    m = (a + 11 * h + 22 * l) // 451
    month, day = divmod(h + l - 7 * m + 114, 31)
    return dt.date(year, month, day + 1)


def compute(country, year):
    days = {dt.date(year, *day): name for day, name in FIXED[country].items()}
    days.update({easter(year) + dt.timedelta(n): name for n, name in MOVING[country].items()})
    return {str(day): days[day] for day in sorted(days)}


def cached(country, year):
    path = os.path.join(CACHE, "%s-%d.json" % (country, year))
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        pass
    days = compute(country, year)
    try:
        os.makedirs(CACHE, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=CACHE, suffix=".part", delete=False, encoding="utf-8") as file:
            json.dump(days, file, ensure_ascii=False)
        os.replace(file.name, path)
    except OSError:
        pass  # a full or read-only disk: the answer is right without a cache
    return days


server = Server("holiday-calendar", instructions="Results are cached below ~/.cache/holiday-calendar; it is safe to delete that at any time.")
YEAR = {"type": "integer", "minimum": 1900, "maximum": 2199}
COUNTRY = {"type": "string", "enum": sorted(FIXED)}


@server.tool("holidays", "Lists the public holidays of a country in a year. Keeps the result in ~/.cache/holiday-calendar.",
             {"country": COUNTRY, "year": YEAR}, annotations={"destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def holidays(country, year):
    if country not in FIXED or not 1900 <= year <= 2199:
        return "Known: %s, from 1900 to 2199." % ", ".join(sorted(FIXED))
    return cached(country, year)


@server.tool("easter_sunday", "Computes the date of Easter Sunday.", {"year": YEAR}, annotations={"readOnlyHint": True, "openWorldHint": False})
def easter_sunday(year):
    return str(easter(year)) if 1900 <= year <= 2199 else "Only for 1900 to 2199."


server.run()
