"""sql-migrations: brings a SQLite database up to date with numbered files, 0001_users.sql, 0002_….

    server.py --database app.db --migrations migrations

Each file is applied once and in a transaction, and its hash is kept in the table _migrations."""
import argparse
import datetime
import hashlib
import re
import sqlite3
from contextlib import closing
from pathlib import Path

from mcp import STRING, Server

parser = argparse.ArgumentParser()
parser.add_argument("--database", type=Path, default=Path("app.db"))
parser.add_argument("--migrations", type=Path, default=Path("migrations"))
options = parser.parse_args()
FILE = re.compile(r"(\d{4})_([a-z0-9_]{1,60})\.sql")
FORBIDDEN = {sqlite3.SQLITE_ATTACH: "ATTACH", sqlite3.SQLITE_DETACH: "DETACH", sqlite3.SQLITE_TRANSACTION: "BEGIN or COMMIT"}

server = Server("sql-migrations", version="1.5.2", instructions="Applies the files of %s to %s. Before that, the database is copied to %s.before-NUMBER." % (options.migrations, options.database, options.database.name))


def files():
    found = {}
    for path in sorted(options.migrations.glob("*.sql")):
        if match := FILE.fullmatch(path.name):
            if match[1] in found:
                raise ValueError("two migrations have the number %s" % match[1])
            found[match[1]] = path
    return found


def connect():
    options.database.parent.mkdir(parents=True, exist_ok=True)
    link = sqlite3.connect(options.database, timeout=5, isolation_level=None)
    link.execute("CREATE TABLE IF NOT EXISTS _migrations (number TEXT PRIMARY KEY, file TEXT, sha256 TEXT, applied TEXT)")
    return closing(link)


def applied():
    if not options.database.exists():
        return {}
    with closing(sqlite3.connect("%s?mode=ro" % options.database.resolve().as_uri(), uri=True)) as link:
        try:
            return {number: (file, digest) for number, file, digest in link.execute("SELECT number, file, sha256 FROM _migrations")}
        except sqlite3.OperationalError:
            return {}


def digest_of(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def statements(sql):
    text = ""
    for line in sql.splitlines(keepends=True):
        text += line
        if sqlite3.complete_statement(text):
            yield text
            text = ""
    if text.strip():
        yield text


@server.tool("migration_status", "Says which migrations were applied, which are pending and which were changed after they were applied.", annotations={"readOnlyHint": True, "openWorldHint": False})
def migration_status():
    done, lines = applied(), []
    for number, path in files().items():
        state = "pending" if number not in done else "applied" if done[number][1] == digest_of(path) else "CHANGED since it was applied"
        lines.append("%s  %s" % (path.name, state))
    lines += ["%s  applied, but its file is gone" % done[n][0] for n in sorted(done.keys() - files().keys())]
    return "\n".join(lines) or "There are no migrations in %s." % options.migrations


@server.tool("migrate", "Applies the pending migrations to the database, in order. The database is copied first; a migration that fails is rolled back and ends the run.",
             optional={"up_to": {**STRING, "pattern": r"^\d{4}$", "description": "the last number to apply"}}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def migrate(up_to="9999"):
    done = applied()
    pending = [(n, p) for n, p in files().items() if n not in done and n <= up_to]
    if not pending:
        return "Nothing is pending."
    report = []
    with connect() as link:
        backup = options.database.with_name("%s.before-%s" % (options.database.name, pending[0][0]))
        with closing(sqlite3.connect(backup)) as copy:
            link.backup(copy)
        report.append("copied to %s" % backup)
        for number, path in pending:
            denied = []

            def guard(action, *_):
                if action in FORBIDDEN:
                    denied.append(FORBIDDEN[action])
                return sqlite3.SQLITE_DENY if action in FORBIDDEN else sqlite3.SQLITE_OK

            link.execute("BEGIN IMMEDIATE")
            try:
                link.set_authorizer(guard)
                for statement in statements(path.read_text("utf-8")):
                    link.execute(statement)
                link.set_authorizer(None)
                link.execute("INSERT INTO _migrations VALUES (?, ?, ?, ?)", (number, path.name, digest_of(path), datetime.datetime.now().isoformat(timespec="seconds")))
                link.execute("COMMIT")
                report.append("applied %s" % path.name)
            except (sqlite3.Error, sqlite3.Warning, OSError, ValueError) as error:
                link.set_authorizer(None)
                if link.in_transaction:
                    link.execute("ROLLBACK")
                report.append("failed, rolled back: %s: %s" % (path.name, "a migration may not use %s" % denied[0] if denied else error))
                break
    return "\n".join(report)


@server.tool("new_migration", "Makes an empty migration file with the next number.", {"title": {**STRING, "maxLength": 60, "examples": ["add users"]}}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def new_migration(title):
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:60]
    if not slug:
        raise ValueError("a title needs a letter or a digit")
    number = "%04d" % (max(map(int, files().keys() | applied().keys()), default=0) + 1)
    options.migrations.mkdir(parents=True, exist_ok=True)
    path = options.migrations / ("%s_%s.sql" % (number, slug))
    with path.open("x", encoding="utf-8") as out:
        out.write("-- %s\n" % slug.replace("_", " "))
    return "Made %s." % path


server.run()
