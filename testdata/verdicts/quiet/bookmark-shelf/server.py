"""bookmark-shelf: bookmarks in SQLite, with tags, and exported as the bookmark file that browsers import."""
import html
import json
import os
import sqlite3
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

DATABASE = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "bookmark-shelf" / "bookmarks.db"
SCHEMA = """
CREATE TABLE IF NOT EXISTS bookmark (id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, title TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', added INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS tag (bookmark INTEGER NOT NULL REFERENCES bookmark(id) ON DELETE CASCADE, name TEXT NOT NULL, PRIMARY KEY (bookmark, name));
CREATE INDEX IF NOT EXISTS tag_name ON tag(name);
PRAGMA user_version = 1;
"""
_connection = None


def db():
    global _connection
    if _connection is None:
        DATABASE.parent.mkdir(parents=True, exist_ok=True)
        _connection = sqlite3.connect(DATABASE, timeout=5)
        _connection.execute("PRAGMA journal_mode = WAL")
        _connection.execute("PRAGMA foreign_keys = ON")
        _connection.executescript(SCHEMA)
    return _connection


def add_bookmark(url, title="", note="", tags=()):
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("%s is no address of a page" % url)
    with db() as c:
        row = c.execute("INSERT INTO bookmark (url, title, note, added) VALUES (?, ?, ?, ?) ON CONFLICT (url) DO UPDATE SET title = excluded.title, note = excluded.note RETURNING id",
                        (url, title or parts.netloc, note, int(time.time()))).fetchone()
        c.executemany("INSERT OR IGNORE INTO tag VALUES (?, ?)", [(row[0], t.strip().lower()) for t in map(str, tags) if t.strip()])
    return "Bookmark %d: %s" % (row[0], url)


def search_bookmarks(words="", tag=""):
    where, values = [], []
    for word in words.split():
        where.append("(title LIKE ? ESCAPE '\\' OR url LIKE ? ESCAPE '\\' OR note LIKE ? ESCAPE '\\')")
        values += ["%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"] * 3
    if tag:
        where.append("id IN (SELECT bookmark FROM tag WHERE name = ?)")
        values.append(tag.lower())
    query = "SELECT id, title, url, note, (SELECT group_concat(name, ', ') FROM tag WHERE bookmark = id) FROM bookmark %s ORDER BY added DESC LIMIT 50"
    rows = db().execute(query % ("WHERE " + " AND ".join(where) if where else ""), values).fetchall()
    return "\n".join("[%d] %s\n    %s%s%s" % (i, t, u, "\n    " + n if n else "", "\n    tags: " + g if g else "") for i, t, u, n, g in rows) or "No bookmarks found."


def remove_bookmark(id):
    with db() as c:
        return "Removed." if c.execute("DELETE FROM bookmark WHERE id = ?", (id,)).rowcount else "There is no bookmark %d." % id


def export_bookmarks(file="bookmarks.html"):
    path = Path(file).resolve()
    if Path.cwd().resolve() not in path.parents or path.suffix.lower() != ".html":
        raise ValueError("the file is an .html below the working directory")
    rows = db().execute("SELECT url, title, added, coalesce((SELECT group_concat(name) FROM tag WHERE bookmark = id), '') FROM bookmark ORDER BY added").fetchall()
    lines = ['<DT><A HREF="%s" ADD_DATE="%d" TAGS="%s">%s</A>' % (html.escape(u), a, html.escape(g), html.escape(t)) for u, t, a, g in rows]
    with path.open("x", encoding="utf-8") as out:
        out.write("<!DOCTYPE NETSCAPE-Bookmark-file-1>\n<META CHARSET=\"UTF-8\">\n<TITLE>Bookmarks</TITLE>\n<DL><p>\n%s\n</DL><p>\n" % "\n".join(lines))
    return "Wrote %d bookmarks to %s." % (len(rows), path.name)


S = {"type": "string"}
TOOLS = [
    (add_bookmark, "Saves a bookmark, or changes title and note of the one with this address. The page is not fetched.", {"url": {**S, "format": "uri"}, "title": S, "note": S, "tags": {"type": "array", "items": S}}, ["url"], {"destructiveHint": True, "idempotentHint": True}),
    (search_bookmarks, "Searches title, address and note of the bookmarks for all words. Without words it lists the newest.", {"words": S, "tag": S}, [], {"readOnlyHint": False, "destructiveHint": False}),
    (remove_bookmark, "Removes a bookmark by its number.", {"id": {"type": "integer"}}, ["id"], {"destructiveHint": True}),
    (export_bookmarks, "Writes all bookmarks to a new file below the working directory that browsers can import.", {"file": {**S, "default": "bookmarks.html"}}, [], {"destructiveHint": False}),
]
TYPES = {"string": str, "integer": int, "array": list}


def call(name, args):
    if not isinstance(args, dict):
        raise ValueError("arguments are an object")
    function, _, properties, required, _ = next(t for t in TOOLS if t[0].__name__ == name)
    wrong = [k for k in required if k not in args] + [k for k, v in args.items() if k not in properties or type(v) is not TYPES[properties[k]["type"]]]
    if wrong:
        raise ValueError("missing or wrong: " + ", ".join(wrong))
    return function(**args)


for line in sys.stdin:
    try:
        message = json.loads(line)
        key, method, params = message["id"], message["method"], message.get("params") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    if not isinstance(params, dict):
        continue
    reply = {"jsonrpc": "2.0", "id": key}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "bookmark-shelf", "version": "2.2.0"},
                           "instructions": "Bookmarks are kept in ~/.local/share/bookmark-shelf/bookmarks.db, which is made at the first use. Nothing is fetched from the web."}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": f.__name__, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {**a, "openWorldHint": False}} for f, d, p, r, a in TOOLS]}
    elif method == "tools/call" and params.get("name") in {t[0].__name__ for t in TOOLS}:
        try:
            reply["result"] = {"content": [{"type": "text", "text": call(params["name"], params.get("arguments") or {})}]}
        except (ValueError, OSError, sqlite3.Error, OverflowError) as e:
            reply["result"] = {"content": [{"type": "text", "text": str(e)}], "isError": True}
    elif method == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "unknown method or tool"}
    print(json.dumps(reply), flush=True)
