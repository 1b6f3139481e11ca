"""meter-book: a household's meter readings in a plain CSV file, so that a spreadsheet can open it too.

    server.py [--file readings.csv]     METER_UNIT names the unit, kWh unless set"""
import argparse
import csv
import datetime
import os
import shutil
from decimal import Decimal, InvalidOperation
from pathlib import Path

from mcp import STRING, Server

parser = argparse.ArgumentParser()
parser.add_argument("--file", type=Path, default=Path("meter-readings.csv"))
BOOK = parser.parse_args().file
UNIT = os.environ.get("METER_UNIT", "kWh")
HEADER = ["date", "reading", "note"]

server = Server("meter-book", version="1.1.0", instructions="Readings are kept in %s of the working folder. Before each change the file is copied to %s.bak." % (BOOK, BOOK))


def readings():
    try:
        with BOOK.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
    except FileNotFoundError:
        return []
    try:
        return sorted((datetime.date.fromisoformat(r["date"]), Decimal(r["reading"]), r.get("note") or "") for r in rows)
    except (KeyError, ValueError, TypeError, InvalidOperation):
        raise ValueError("%s has to have the columns %s, with dates as YYYY-MM-DD" % (BOOK, ", ".join(HEADER))) from None


def save(rows):
    BOOK.parent.mkdir(parents=True, exist_ok=True)
    if BOOK.exists():
        shutil.copyfile(BOOK, BOOK.with_name(BOOK.name + ".bak"))
    new = BOOK.with_name(BOOK.name + ".new")
    with new.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows([day.isoformat(), format(value, "f"), note] for day, value, note in rows)
    new.replace(BOOK)


@server.tool("record_reading", "Writes a meter reading into the CSV file. A second reading of the same day takes the place of the first.",
             {"reading": {"type": "number", "minimum": 0}}, {"date": {**STRING, "format": "date"}, "note": {**STRING, "maxLength": 80}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def record_reading(reading, date="", note=""):
    day = datetime.date.fromisoformat(date) if date else datetime.date.today()
    value = Decimal(str(reading))
    if not value.is_finite() or not 0 <= value < 10**9:
        raise ValueError("a reading lies between 0 and 999999999")
    note = " ".join(note.split())[:80].lstrip("=+-@")  # a spreadsheet would take these for a formula
    rows = [r for r in readings() if r[0] != day]
    before = [r for r in rows if r[0] < day]
    save(sorted(rows + [(day, value, note)]))
    if not before:
        return "Recorded %s %s on %s, the first reading." % (value, UNIT, day)
    used = value - before[-1][1]
    hint = " Was the meter changed? It ran backwards." if used < 0 else ""
    return "Recorded %s %s on %s: %s %s since %s.%s" % (value, UNIT, day, used, UNIT, before[-1][0], hint)


@server.tool("consumption", "Computes what was used between readings, and per day.", annotations={"readOnlyHint": True, "openWorldHint": False})
def consumption():
    rows = readings()
    lines = []
    for (start, low, _), (end, high, note) in zip(rows, rows[1:]):
        days = (end - start).days
        lines.append("%s to %s: %s %s, %.2f a day%s" % (start, end, high - low, UNIT, float(high - low) / days, "  (%s)" % note if note else ""))
    return "\n".join(lines[-60:]) or "Two readings are needed, there are %d." % len(rows)


@server.tool("forecast_year", "Estimates a year's use and cost from the first and last reading.", {"price_per_unit": {"type": "number"}}, {"standing_charge": {"type": "number", "description": "a year"}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def forecast_year(price_per_unit, standing_charge=0):
    rows = readings()
    if len(rows) < 2:
        return "Two readings are needed, there are %d." % len(rows)
    days = (rows[-1][0] - rows[0][0]).days
    year = float(rows[-1][1] - rows[0][1]) / days * 365.25
    return "About %.0f %s a year, %.2f with the standing charge (from %d days of readings)." % (year, UNIT, year * price_per_unit + standing_charge, days)


server.run()
