#!/usr/bin/env python3
"""Notes in the Redis of this machine (REDIS_URL, redis://127.0.0.1:6379 by default), without a client library."""
import json
import os
import socket
import sys
from urllib.parse import urlsplit

PREFIX = "notes:"
_url = urlsplit(os.environ.get("REDIS_URL", "redis://127.0.0.1:6379"))
ADDRESS = (_url.hostname or "127.0.0.1", _url.port or 6379)


class NoRedis(Exception):
    pass


class Redis:
    def __enter__(self):
        try:
            self.sock = socket.create_connection(ADDRESS, timeout=2)
        except OSError:
            raise NoRedis("No Redis listens on %s:%d. Start one, or set REDIS_URL." % ADDRESS)
        self.file = self.sock.makefile("rb")
        return self

    def __exit__(self, *_):
        self.file.close()
        self.sock.close()

    def __call__(self, *words):
        parts = [str(w).encode() for w in words]
        try:
            self.sock.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(p), p) for p in parts))
            return self.read()
        except (OSError, ValueError):
            raise NoRedis("What listens on %s:%d does not speak as Redis does." % ADDRESS)

    def read(self):
        line = self.file.readline(1 << 16)
        kind, rest = line[:1], line[1:].rstrip(b"\r\n")
        if kind == b"+":
            return rest.decode()
        if kind == b"-":
            raise NoRedis("Redis refuses: %s" % rest.decode(errors="replace"))
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self.file.read(size + 2)[:-2].decode(errors="replace")
        if kind == b"*":
            return [self.read() for _ in range(min(int(rest), 1000))]
        raise ValueError(line)


def save(title, text):
    with Redis() as redis:
        redis("HSET", PREFIX + "all", title, text)
    return "Saved."


def show(title):
    with Redis() as redis:
        return redis("HGET", PREFIX + "all", title) or "There is no such note."


def titles():
    with Redis() as redis:
        found = redis("HKEYS", PREFIX + "all")
    return "\n".join(map(str, found)) if isinstance(found, list) and found else "There are no notes."


S = {"type": "string"}
TOOLS = {
    "save_note": (save, "Saves a note in the local Redis, over one of the same title.", ["title", "text"], {"destructiveHint": True, "idempotentHint": True}),
    "show_note": (show, "Shows a note from the local Redis.", ["title"], {"readOnlyHint": True}),
    "list_notes": (titles, "Lists the titles of the notes in the local Redis.", [], {"readOnlyHint": True}),
}


def result_of(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "redis-notes", "version": "1.0.0"}, "instructions": "Notes are kept in Redis at %s:%d." % ADDRESS}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": words, "annotations": {**hints, "openWorldHint": False},
                           "inputSchema": {"type": "object", "properties": {n: S for n in needs}, "required": needs}}
                          for name, (_, words, needs, hints) in TOOLS.items()]}
    if method == "tools/call":
        function, _, needs, _ = TOOLS[params["name"]]
        arguments = params.get("arguments") or {}
        if not all(isinstance(arguments.get(n), str) for n in needs):
            return {"isError": True, "content": [{"type": "text", "text": "needs: " + ", ".join(needs)}]}
        try:
            text = function(*(arguments[n] for n in needs))
        except NoRedis as reason:
            text = str(reason)
        except UnicodeError:
            text = "This text cannot be stored."
        return {"content": [{"type": "text", "text": text}]}
    raise KeyError(method)


while line := sys.stdin.readline():
    try:
        message = json.loads(line)
        if "id" not in message:
            continue
    except (ValueError, TypeError):
        continue
    try:
        body = {"result": result_of(message.get("method"), message.get("params") or {})}
    except KeyError as what:
        body = {"error": {"code": -32601, "message": "unknown %s" % what}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
