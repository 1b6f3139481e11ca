#!/usr/bin/env python3
"""ledger-sql: double-entry bookkeeping in one SQLite file, ~/.local/share/ledger-sql/ledger.db (or $LEDGER_DB).

The file is made from schema.sql at the first start. When the server ends, it is optimized and its write-ahead log is
folded in.
"""
import contextlib
import datetime
import math
import os
import sqlite3
import sys
import time
from decimal import Decimal, InvalidOperation

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
HERE = os.path.dirname(os.path.realpath(__file__))
FILE = os.environ.get("LEDGER_DB") or os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "ledger-sql", "ledger.db")
KINDS = ["asset", "liability", "income", "expense", "equity"]
READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
FUNCTIONS = {"sum", "count", "min", "max", "avg", "total", "abs", "round", "substr", "substring", "length", "lower", "upper", "coalesce", "ifnull", "nullif", "iif",
             "strftime", "date", "julianday", "group_concat", "trim", "replace", "instr", "like", "row_number", "rank", "lag", "lead"}


def connect(write=False):
    db = sqlite3.connect("file:%s?mode=%s" % (FILE.replace("%", "%25").replace("?", "%3f").replace("#", "%23"), "rw" if write else "ro"), uri=True, timeout=5, isolation_level=None)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = on")
    return db


@contextlib.contextmanager
def reading():
    with contextlib.closing(connect()) as db:
        yield db


@contextlib.contextmanager
def writing():
    with contextlib.closing(connect(write=True)) as db:
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            db.execute("ROLLBACK")
            raise


def first_start():
    os.makedirs(os.path.dirname(FILE) or ".", exist_ok=True)
    if not os.path.exists(FILE):
        with contextlib.closing(sqlite3.connect(FILE)) as db, open(os.path.join(HERE, "schema.sql"), encoding="utf-8") as schema:
            db.execute("PRAGMA journal_mode = wal")
            db.executescript(schema.read())
        os.chmod(FILE, 0o600)


def fold():
    with contextlib.closing(connect(write=True)) as db:
        db.execute("PRAGMA optimize")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def cents(amount):
    try:
        value = Decimal(amount) * 100
    except InvalidOperation:
        raise ValueError("an amount is a number such as 12.50") from None
    if not value.is_finite() or value != value.to_integral_value() or not 0 < abs(value) < 10**12:
        raise ValueError("an amount has at most two decimals and is not zero")
    return int(value)


def money(value):
    return "%.2f" % (Decimal(value or 0) / 100)


def plain(value):
    """A value as JSON can hold it."""
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def day_of(text):
    return datetime.date.fromisoformat(text).isoformat() if text else datetime.date.today().isoformat()


DAY = {"type": "string", "pattern": "^\\d{4}-\\d{2}-\\d{2}$", "format": "date"}
ACCOUNT = {"type": "string", "maxLength": 60, "examples": ["cash", "bank", "food"]}
READ, ADD = {"readOnlyHint": True, "openWorldHint": False}, {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}
server = Server("ledger-sql", "1.5.0", "The ledger is an SQLite database in ~/.local/share/ledger-sql, made at the first start. It begins with the accounts cash, bank, salary, food, rent and opening.")


@server.tool("add_account", "Adds an account to the ledger's database.", {"name": {**ACCOUNT, "examples": ["travel"]}, "kind": {"type": "string", "enum": KINDS}}, annotations=ADD)
def add_account(name, kind):
    if kind not in KINDS or not name.strip():
        raise ValueError("name the account, and kind is one of " + ", ".join(KINDS))
    try:
        with writing() as db:
            db.execute("INSERT INTO account VALUES (?, ?)", (name.strip(), kind))
    except sqlite3.IntegrityError:
        raise ValueError("there is an account of that name, or the name is too long") from None
    return "Added %s." % name.strip()


@server.tool("add_entry", "Books an amount from one account to another in the ledger's database; today if no day is given.",
             {"text": {"type": "string", "maxLength": 200, "examples": ["Groceries"]}, "amount": {"type": "string", "pattern": "^\\d+(\\.\\d{1,2})?$", "examples": ["12.50"]}, "from": {**ACCOUNT, "examples": ["cash"]}, "to": {**ACCOUNT, "examples": ["food"]}},
             {"day": DAY}, annotations=ADD)
def add_entry(text, amount, to, day="", **rest):
    value, source = cents(amount), rest["from"]
    if value < 0 or len(text) > 200 or source == to:
        raise ValueError("the amount is positive, the text has at most 200 characters and the accounts differ")
    try:
        with writing() as db:
            number = db.execute("INSERT INTO entry (day, text) VALUES (?, ?)", (day_of(day), text)).lastrowid
            db.executemany("INSERT INTO posting VALUES (?, ?, ?)", [(number, source, -value), (number, to, value)])
    except sqlite3.IntegrityError:
        raise ValueError("one of the accounts does not exist; balances lists them") from None
    return {"entry": number, "from": source, "to": to, "amount": money(value)}


@server.tool("balances", "Lists all accounts with their kind and balance, up to a day if one is given.", optional={"until": DAY}, annotations=READ)
def balances(until=""):
    with reading() as db:
        rows = db.execute("""SELECT a.name, a.kind, (SELECT sum(p.cents) FROM posting p JOIN entry e ON e.id = p.entry WHERE p.account = a.name AND e.day <= ?) AS cents
                             FROM account a ORDER BY a.kind, a.name""", (day_of(until) if until else "9999-12-31",)).fetchall()
    return [{"account": row["name"], "kind": row["kind"], "balance": money(row["cents"])} for row in rows]


@server.tool("statement", "Lists the bookings on one account, newest first.", {"account": ACCOUNT}, {"limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}}, annotations=READ)
def statement(account, limit=50):
    if not 1 <= limit <= 500:
        raise ValueError("limit is a number from 1 to 500")
    with reading() as db:
        if not db.execute("SELECT 1 FROM account WHERE name = ?", (account,)).fetchone():
            raise ValueError("there is no account %r" % account)
        rows = db.execute("SELECT e.id, e.day, e.text, p.cents FROM posting p JOIN entry e ON e.id = p.entry WHERE p.account = ? ORDER BY e.day DESC, e.id DESC LIMIT ?", (account, limit)).fetchall()
    return [{"entry": row["id"], "day": row["day"], "text": row["text"], "amount": money(row["cents"])} for row in rows]


@server.tool("query", "Answers one SELECT on the tables account(name, kind), entry(id, day, text) and posting(entry, account, cents) of the ledger. The database is opened read-only for it, other statements are refused, and it is stopped after 3 seconds or 500 rows.",
             {"sql": {"type": "string", "maxLength": 4000, "examples": ["SELECT account, sum(cents) FROM posting GROUP BY account"]}}, annotations=READ)
def query(sql):
    if len(sql) > 4000:
        raise ValueError("at most 4000 characters")
    until = time.monotonic() + 3

    def allow(action, first, second, *_):
        if action == sqlite3.SQLITE_FUNCTION:
            return sqlite3.SQLITE_OK if str(second).lower() in FUNCTIONS else sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY

    with reading() as db:
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
        db.set_authorizer(allow)
        db.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        cursor = db.execute(sql)
        if cursor.description is None:
            raise ValueError("only SELECT is answered")
        rows = cursor.fetchmany(500)
        return {"columns": [column[0] for column in cursor.description], "rows": [[plain(value) for value in row] for row in rows]}


@server.tool("delete_entry", "Deletes one entry with its postings from the ledger's database. This cannot be undone.", {"entry": {"type": "integer", "minimum": 1}}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def delete_entry(entry):
    with writing() as db:
        if not db.execute("DELETE FROM entry WHERE id = ?", (entry,)).rowcount:
            raise ValueError("there is no entry %d" % entry)
    return "Deleted entry %d." % entry


first_start()
server.ended = fold
server.run()
