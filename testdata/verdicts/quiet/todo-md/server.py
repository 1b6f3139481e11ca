#!/usr/bin/env python3
# todo-md: the to-do list is TODO.md in the working directory, a plain Markdown list, so that people can edit it too.
import contextlib
import fcntl
import json
import os
import re
import sys

FILE = os.path.join(os.getcwd(), "TODO.md")
LINE = re.compile(r"- \[( |x)\] (.*)")


def load():
    try:
        with open(FILE, encoding="utf-8") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return ["# To do", ""]


def store(lines):
    temporary = "%s.%d" % (FILE, os.getpid())
    with open(temporary, "w", encoding="utf-8", errors="replace") as f:
        f.write("\n".join(lines) + "\n")
        f.flush()
        os.fsync(f.fileno())
    os.replace(temporary, FILE)


@contextlib.contextmanager
def locked():
    """Another client may write at the same time; the lock file is left to nobody."""
    path = os.path.join(os.path.dirname(FILE), ".todo.lock")
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    finally:
        os.close(handle)


def items(lines):
    return [(at, m[1] == "x", m[2]) for at, m in ((i, LINE.match(l)) for i, l in enumerate(lines)) if m]


def show(a):
    rows = ["%d. %s%s" % (n, "done: " if done else "", text) for n, (_, done, text) in enumerate(items(load()), 1)]
    return "\n".join(rows) or "There is nothing to do."


def add(a):
    text = " ".join(str(a["text"]).split())[:300]
    if not text:
        return "An empty item was not added."
    with locked():
        lines = load()
        store(lines + ["- [ ] " + text])
    return "Added: " + text


def tick(a):
    number = a["number"]
    with locked():
        lines = load()
        found = items(lines)
        if not isinstance(number, int) or not 1 <= number <= len(found):
            return "There are %d items." % len(found)
        at, _, text = found[number - 1]
        lines[at] = "- [x] " + text
        store(lines)
    return "Done: " + text


def tidy(a):
    with locked():
        lines = load()
        kept = [l for l in lines if not l.startswith("- [x] ")]
        if len(kept) < len(lines):
            store(kept)
    return "%d items that were done are gone." % (len(lines) - len(kept))


def spec(description, hints, **properties):
    return {"description": description, "annotations": {"openWorldHint": False, **hints}, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}


TOOLS = {
    "show_todo": (show, spec("Shows the items of TODO.md in the working directory.", {"readOnlyHint": True})),
    "add_todo": (add, spec("Adds an item to TODO.md, which is made when it is not there.", {"destructiveHint": False}, text={"type": "string"})),
    "tick_todo": (tick, spec("Marks an item of TODO.md as done.", {"destructiveHint": True, "idempotentHint": True}, number={"type": "integer", "minimum": 1})),
    "tidy_todo": (tidy, spec("Removes items that are done from TODO.md.", {"destructiveHint": True, "idempotentHint": True})),
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "todo-md", "version": "1.0.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, **rest} for name, (_, rest) in TOOLS.items()]}
    if method == "tools/call":
        function, _ = TOOLS[params.get("name")]
        try:
            return {"content": [{"type": "text", "text": function(params.get("arguments") or {})}]}
        except KeyError as missing:
            return {"isError": True, "content": [{"type": "text", "text": "missing: %s" % missing}]}
        except OSError as problem:
            return {"isError": True, "content": [{"type": "text", "text": "TODO.md: %s" % problem.strerror}]}
    raise KeyError(method)


for raw in sys.stdin:
    try:
        message = json.loads(raw)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message:
        try:
            body = {"result": answer(message.get("method"), message.get("params") or {})}
        except KeyError as unknown:
            body = {"error": {"code": -32601, "message": "unknown: %s" % unknown}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()
