"""A parts inventory in SQLite, with the chores a database needs: check, vacuum and snapshots."""
import contextlib
import os
import sqlite3
import sys
import time

from mcp import Server, STRING

path = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "stock.sqlite3")
snapshots = os.path.join(os.path.dirname(path), "snapshots")
KEEP = 5

server = Server("stock-housekeeping", "1.3.0")


@contextlib.contextmanager
def opened():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("CREATE TABLE IF NOT EXISTS part (sku TEXT PRIMARY KEY, name TEXT NOT NULL, amount INTEGER NOT NULL DEFAULT 0)")
        yield db
    finally:
        db.close()


@server.tool("book_part", "Books parts in (positive amount) or out (negative) in the inventory database.",
             {"sku": STRING, "amount": {"type": "integer"}}, {"name": STRING},
             annotations={"openWorldHint": False, "destructiveHint": True})
def book_part(sku, amount, name=None):
    if not -10**6 <= amount <= 10**6:
        return "That is more than this store can hold."
    with opened() as db:
        db.execute("""INSERT INTO part (sku, name, amount) VALUES (?1, coalesce(?2, ?1), ?3)
                      ON CONFLICT (sku) DO UPDATE SET amount = amount + ?3, name = coalesce(?2, name)""", (sku, name, amount))
        left, = db.execute("SELECT amount FROM part WHERE sku = ?", (sku,)).fetchone()
    return "%s: %d in stock" % (sku, left)


@server.tool("low_stock", "Lists parts of which fewer than a number are left. The database is made when it is not there.",
             {"below": {"type": "integer"}}, annotations={"openWorldHint": False, "destructiveHint": False})
def low_stock(below):
    with opened() as db:
        rows = db.execute("SELECT sku, name, amount FROM part WHERE amount < ? ORDER BY amount LIMIT 100", (min(below, 2**62),)).fetchall()
    return "\n".join("%6d  %s  %s" % (amount, sku, name) for sku, name, amount in rows) or "Nothing is short."


@server.tool("compact", "Checks the inventory database, drops empty rows, and rewrites the file with VACUUM so that it takes no more room than it needs.",
             annotations={"openWorldHint": False, "destructiveHint": True, "idempotentHint": True})
def compact():
    with opened() as db:
        state = db.execute("PRAGMA integrity_check").fetchone()[0]
        if state != "ok":
            return "The database is damaged, nothing was changed: " + state
        before = os.path.getsize(path)
        dropped = db.execute("DELETE FROM part WHERE amount = 0").rowcount
        db.execute("VACUUM")
        db.execute("ANALYZE")
    return "ok; %d empty rows dropped; %d -> %d bytes" % (dropped, before, os.path.getsize(path))


@server.tool("snapshot", "Writes a copy of the inventory database to the folder snapshots beside it and deletes all but the newest five copies there.",
             annotations={"openWorldHint": False, "destructiveHint": True})
def snapshot():
    os.makedirs(snapshots, exist_ok=True)
    target = os.path.join(snapshots, "stock-%d.sqlite3" % time.time_ns())
    with opened() as db, contextlib.closing(sqlite3.connect(target)) as copy:
        db.backup(copy)
    mine = sorted(name for name in os.listdir(snapshots) if name.startswith("stock-") and name.endswith(".sqlite3"))
    for old in mine[:-KEEP]:
        os.unlink(os.path.join(snapshots, old))
    return "Saved %s; %d kept." % (os.path.basename(target), min(len(mine), KEEP))


server.run()
