"""Runs glassport's own tests and keeps every session log that they analyse.

usage: capture.py TESTS OUT

OUT gets one JSON object a log: its lines, and what glassport says of it. A
pytest plugin stands before the function by which glassport reads a log.
"""
import hashlib
import json
import os
import sys

import pytest

from glassport.adapters import mcp_session
from glassport.detectors import annotate, clear_custom_pii_patterns
from glassport.watch import fingerprint

real = mcp_session.from_mcp_session
seen = set()
out = None


def facts(lines):
    """What glassport says of a log, with its built-in patterns only."""
    trace = real(lines)
    found = [
        {"subcategory": a.subcategory, "severity": a.severity, "seq": a.metadata.get("seq"), "kind": a.kind.value}
        for a in annotate(trace)
    ]
    surface = trace.declared_surface()
    called = [name for _, name in trace.called_tools()]
    fp = fingerprint(trace)
    return {
        "found": found,
        "declared": sorted(surface) if surface is not None else None,
        "called": called,
        "fabricated": [name for _, name in trace.fabricated_tool_calls()],
        "hosts": fp["hosts"],
        "server_requests": fp["server_requests"],
    }


def keep(lines):
    text = "\n".join(line.strip() for line in lines if line.strip())
    key = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    if key in seen or len(text) > 200_000 or not text:
        return
    seen.add(key)
    try:
        record = facts(text.split("\n"))
    except Exception as e:  # a log that is meant to be refused
        record = {"error": type(e).__name__}
    record["log"] = text
    out.write(json.dumps(record) + "\n")


def standing_before(lines, *args, **kw):
    lines = list(lines)
    if all(isinstance(line, str) for line in lines):
        clear_custom_pii_patterns()
        keep(lines)
    return real(lines, *args, **kw)


def reading(tests):
    """The files whose tests read session logs, but for those that drive servers."""
    for name in sorted(os.listdir(tests)):
        path = os.path.join(tests, name)
        if not name.startswith("test_") or name.startswith(("test_http", "test_tui", "test_e2e", "test_probe", "test_console", "test_server", "test_prune")):
            continue
        with open(path, encoding="utf-8") as f:
            if any(word in text for text in [f.read()] for word in ("from_mcp_session(", "annotate(", "fingerprint(")):
                yield path


def main():
    global out
    tests, path = (os.path.abspath(a) for a in sys.argv[1:])
    os.chdir(os.path.dirname(tests))
    sys.path.insert(0, os.getcwd())
    mcp_session.from_mcp_session = standing_before
    with open(path + ".new", "w", encoding="utf-8") as f:
        out = f
        # Its tests may fail here; what they read is all that is asked.
        pytest.main(["-q", "--continue-on-collection-errors", "--import-mode=importlib", "-p", "no:cacheprovider", "--no-header", "-W", "ignore", *reading(tests)])
    os.rename(path + ".new", path)
    print(len(seen), "logs")


main()
