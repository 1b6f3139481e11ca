#!/usr/bin/env python3
"""Ledger query: looks through a small ledger of a household."""
import sqlite3

from mcp import STRING, Server

server = Server("ledger-query", "2.3.0")
READ_ONLY = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}

db = sqlite3.connect(":memory:")
db.executescript("""
CREATE TABLE entries (id INTEGER PRIMARY KEY, day TEXT, account TEXT, memo TEXT, cents INTEGER, private INTEGER DEFAULT 0);
CREATE TABLE members (name TEXT, pin TEXT, iban TEXT);
INSERT INTO entries (day, account, memo, cents, private) VALUES
 ('2025-01-03', 'food', 'market', -4210, 0), ('2025-01-05', 'rent', 'January', -91000, 0), ('2025-01-09', 'food', 'baker''s', -680, 0),
 ('2025-01-12', 'gifts', 'ring for Ada', -45000, 1), ('2025-01-15', 'salary', 'January', 240000, 0), ('2025-01-20', 'health', 'clinic', -12000, 1);
INSERT INTO members VALUES ('Ada', '4471', 'XX00 0000 0000 0001'), ('Ben', '9023', 'XX00 0000 0000 0002');
""")


def escaped(text):
    return text.replace("\\", "\\\\").replace("'", "\\'").replace("%", "\\%")


@server.tool("find_entries", "Finds the entries of the ledger that are not private and of which the memo holds a text.", {"memo": {**STRING, "description": "A part of the memo"}},
             {"account": {**STRING, "description": "Only of this account"}, "limit": {"type": "integer", "minimum": 1, "maximum": 100}}, annotations=READ_ONLY)
def find_entries(memo, account=None, limit=20):
    query = "SELECT day, account, memo, cents FROM entries WHERE private = 0 AND memo LIKE '%" + escaped(memo) + "%'"
    values = []
    if account is not None:
        query, values = query + " AND account = ?", [account]
    rows = db.execute(query + " LIMIT %d" % max(1, min(limit, 100)), values).fetchall()
    return "\n".join("%s  %-8s %-20s %10s" % (day, name, text, cents) for day, name, text, cents in rows) or "no entries"


@server.tool("account_total", "The total of an account, without private entries.", {"account": STRING}, annotations=READ_ONLY)
def account_total(account):
    cents = db.execute("SELECT coalesce(sum(cents), 0) FROM entries WHERE private = 0 AND account = ?", (account,)).fetchone()[0]
    return "%.2f" % (cents / 100)


@server.tool("list_accounts", "Lists the accounts of the ledger.", annotations=READ_ONLY)
def list_accounts():
    return "\n".join(row[0] for row in db.execute("SELECT DISTINCT account FROM entries WHERE private = 0 ORDER BY 1"))


server.run()
