#!/usr/bin/env python3
"""uncovered-lines [PROJECT]: what the tests of a project miss, from coverage.xml (Cobertura) or lcov.info."""
import fnmatch
import json
import os
import sys
import xml.etree.ElementTree as ET
from itertools import groupby
from pathlib import Path

from mcp import Server

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("COVERAGE_ROOT", ".")).resolve()
REPORTS = ("coverage.xml", "coverage/cobertura-coverage.xml", "lcov.info", "coverage/lcov.info")
BASELINE = ROOT / ".coverage-baseline.json"
MOST = 100_000_000

server = Server("uncovered-lines", version="1.5.0",
                instructions="Reads the newest of %s in %s. The tests have to be run elsewhere." % (", ".join(REPORTS), ROOT))


def cobertura(path):
    files, parser = {}, ET.XMLPullParser(["end"])
    with open(path, "rb") as file:
        head = file.read(4096)
        if b"<!ENTITY" in head:
            raise ValueError("%s declares entities, which no coverage report needs" % path)
        parser.feed(head)
        while data := file.read(1 << 16):
            parser.feed(data)
            for _, element in parser.read_events():
                if element.tag == "class":
                    lines = files.setdefault(element.get("filename") or "?", {})
                    for line in element.iter("line"):
                        lines[int(line.get("number"))] = max(lines.get(int(line.get("number")), 0), int(line.get("hits")))
                    element.clear()
    for _, element in parser.read_events():
        if element.tag == "class":
            files.setdefault(element.get("filename") or "?", {}).update({int(n.get("number")): int(n.get("hits")) for n in element.iter("line")})
    return files


def lcov(path):
    files, lines = {}, {}
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("SF:"):
            name = line[3:].strip()
            lines = files.setdefault(os.path.relpath(name, ROOT) if os.path.isabs(name) else name, {})
        elif line.startswith("DA:"):
            number, hits = line[3:].split(",")[:2]
            lines[int(number)] = lines.get(int(number), 0) + int(hits)
    return files


def report():
    found = [p for p in (ROOT / r for r in REPORTS) if p.is_file()]
    if not found:
        raise FileNotFoundError("there is no coverage report in %s; looked for %s" % (ROOT, ", ".join(REPORTS)))
    newest = max(found, key=lambda p: p.stat().st_mtime)
    if newest.stat().st_size > MOST:
        raise ValueError("%s is larger than 100 MB" % newest)
    try:
        return newest, cobertura(newest) if newest.suffix == ".xml" else lcov(newest)
    except (ET.ParseError, ValueError, TypeError) as error:
        raise ValueError("%s is no coverage report: %s" % (newest, error)) from None


def percent(lines):
    return 100 * sum(1 for h in lines.values() if h) / len(lines) if lines else 100.0


def spans(numbers):
    """[3, 4, 5, 9] as 3-5, 9"""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(sorted(numbers)), lambda x: x[1] - x[0])]
    return ", ".join(str(r[0]) if len(r) == 1 else "%d-%d" % (r[0], r[-1]) for r in runs)


PATTERN = {"type": "string", "description": "a shell pattern of file names", "examples": ["src/*.py"]}
READ = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("uncovered", "Lists the lines that no test reaches, for each file of the coverage report, the least covered first.", optional={"pattern": PATTERN}, annotations=READ)
def uncovered(pattern="*"):
    if not pattern or len(pattern) > 200:
        raise ValueError("pattern has 1 to 200 characters")
    path, files = report()
    chosen = sorted((percent(l), name, l) for name, l in files.items() if fnmatch.fnmatch(name, pattern))
    lines = ["%5.1f%%  %s: %s" % (p, name, spans(n for n, h in l.items() if not h)) for p, name, l in chosen if p < 100]
    return "%s\n%s" % (path, "\n".join(lines[:200]) or "Every line is reached.")


@server.tool("keep_baseline", "Keeps the coverage of each file as the baseline in %s, in place of the older one." % BASELINE,
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def keep_baseline():
    _, files = report()
    part = BASELINE.with_name(BASELINE.name + ".part")
    part.write_text(json.dumps({n: round(percent(l), 2) for n, l in sorted(files.items())}, indent=1) + "\n", encoding="utf-8")
    os.replace(part, BASELINE)
    return "Kept %d files in %s." % (len(files), BASELINE)


@server.tool("compare", "Compares the coverage report with the baseline and lists files that got better or worse.", annotations=READ)
def compare():
    if not BASELINE.is_file():
        raise FileNotFoundError("there is no baseline yet; keep_baseline makes one")
    old = json.loads(BASELINE.read_text(encoding="utf-8"))
    if not isinstance(old, dict) or not all(isinstance(v, (int, float)) for v in old.values()):
        raise ValueError("%s is damaged; keep_baseline makes a new one" % BASELINE)
    now = {n: percent(l) for n, l in report()[1].items()}
    lines = ["%+6.1f  %s" % (now[n] - old.get(n, 0), n) for n in sorted(now) if abs(now[n] - old.get(n, 0)) >= 0.1]
    return "\n".join(lines) or "Nothing has changed."


server.run()
