"""A reading log in ~/.local/share/reading-log/books.db (write-ahead logging, so a second client may read along)."""
import datetime
import os
import pathlib
import sqlite3

from mcp import Server, STRING

folder = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share") / "reading-log"
_connection = None


def database():
    """Opens the database on first use: a client that only lists tools leaves nothing behind."""
    global _connection
    if _connection is None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        _connection = sqlite3.connect(folder / "books.db", timeout=5)
        _connection.execute("PRAGMA journal_mode = WAL")
        _connection.execute("PRAGMA synchronous = NORMAL")
        _connection.executescript("""
            CREATE TABLE IF NOT EXISTS book (title TEXT, author TEXT, started TEXT, finished TEXT, stars INTEGER,
                                             PRIMARY KEY (title, author)) WITHOUT ROWID;
            CREATE INDEX IF NOT EXISTS by_finish ON book (finished);""")
    return _connection


def close():
    if _connection is not None:
        _connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        _connection.close()


server = Server("reading-log", instructions="Your reading log is kept in ~/.local/share/reading-log.")
LOCAL = {"openWorldHint": False}


@server.tool("start_book", "Notes in the reading log that you began a book today.", {"title": STRING}, {"author": STRING},
             annotations={**LOCAL, "destructiveHint": False, "idempotentHint": True})
def start_book(title, author="unknown"):
    with database() as db:
        db.execute("INSERT OR IGNORE INTO book (title, author, started) VALUES (?, ?, ?)", (title, author, str(datetime.date.today())))
    return "Enjoy \u201c%s\u201d!" % title


@server.tool("finish_book", "Notes in the reading log that you finished a book, with one to five stars.",
             {"title": STRING}, {"stars": {"type": "integer", "minimum": 1, "maximum": 5}},
             annotations={**LOCAL, "destructiveHint": True})
def finish_book(title, stars=3):
    with database() as db:
        done = db.execute("UPDATE book SET finished = ?, stars = ? WHERE title = ?",
                          (str(datetime.date.today()), min(max(stars, 1), 5), title)).rowcount
    return "Well read." if done else "This book is not in the log yet; use start_book first."


@server.tool("year_in_books", "Says what was read in a year, from the log in ~/.local/share/reading-log, which is made when it is not there.",
             {"year": {"type": "integer", "minimum": 1900, "maximum": 2200}}, annotations=LOCAL)
def year_in_books(year):
    rows = database().execute("SELECT title, author, stars FROM book WHERE finished LIKE ? ORDER BY finished", ("%04d-%%" % abs(year),)).fetchall()
    return {"year": year, "count": len(rows), "books": [{"title": t, "author": a, "stars": s} for t, a, s in rows]}


server.ended = close
server.run()
