"""Notes with a full-text index."""
import os
import sqlite3
import urllib.parse

from mcp import Server, STRING

PATH = os.path.expanduser("~/.local/share/fts-notes/notes.db")
server = Server("fts-notes", "1.6.0")


def database():
    os.makedirs(os.path.dirname(PATH), exist_ok=True)
    db = sqlite3.connect(PATH, timeout=5)
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript("""
        CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, title TEXT NOT NULL, body TEXT NOT NULL, at TEXT DEFAULT CURRENT_TIMESTAMP);
        CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (title, body, content=notes, content_rowid=id, tokenize='unicode61 remove_diacritics 2');
        CREATE TRIGGER IF NOT EXISTS added AFTER INSERT ON notes BEGIN INSERT INTO words (rowid, title, body) VALUES (new.id, new.title, new.body); END;
    """)
    return db


@server.tool("add_note", "Adds a note.", {"title": STRING, "body": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def add_note(title, body):
    db = database()
    with db:
        number = db.execute("INSERT INTO notes (title, body) VALUES (?, ?)", (title, body)).lastrowid
    db.close()
    return "Note %d is kept." % number


@server.tool("search_notes", "Searches titles and texts for all of the given words.", {"words": STRING}, annotations={"readOnlyHint": True, "openWorldHint": False})
def search_notes(words):
    query = " ".join('"%s"' % w.replace('"', '""').replace("\0", "") for w in words.split()[:20])
    if not query:
        return "Which words?"
    if not os.path.exists(PATH):
        return "There are no notes yet."
    db = sqlite3.connect("file:%s?mode=ro" % urllib.parse.quote(PATH), uri=True, timeout=5)
    rows = db.execute("SELECT rowid, title, snippet(words, 1, '*', '*', ' … ', 12) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 20", (query,)).fetchall()
    db.close()
    return "\n".join("%d %s: %s" % row for row in rows) or "No note has these words."


@server.tool("back_up", "Writes a compact copy of the database beside it, over the last one.", annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def back_up():
    db, copy = database(), PATH.replace("notes.db", "notes.backup.db")
    if os.path.exists(copy):
        os.remove(copy)
    db.execute("VACUUM INTO ?", (copy,))
    db.close()
    return "%d bytes" % os.path.getsize(copy)


server.run()
