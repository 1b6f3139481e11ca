"""csv-query: SQL on the CSV files of a folder. Each file is a table in memory; the files are only read."""
import csv
import json
import pathlib
import re
import sqlite3
import sys
import time

from mcp import STRING, Server

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
SECONDS, ROWS, LARGEST = 8, 500, 64 << 20
ALLOWED = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
loaded = {}  # table -> (modified, file)
memory = sqlite3.connect(":memory:", isolation_level=None)
memory.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 16 << 20)
csv.field_size_limit(1 << 20)
server = Server("csv-query", version="0.4.0", instructions="The .csv files directly in %s are the tables. They are read again when they have changed, and never written." % ROOT)
reads = {"readOnlyHint": True, "openWorldHint": False}


def only_reading(action, first, second, *_):
    if action == sqlite3.SQLITE_FUNCTION and second in ("load_extension", "fts3_tokenizer"):
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in ALLOWED else sqlite3.SQLITE_DENY


def quoted(identifier):
    return '"' + identifier.replace('"', '""') + '"'


def value(text):
    if re.fullmatch(r"-?\d{1,15}", text):
        return int(text)
    if re.fullmatch(r"-?\d*\.\d+([eE][-+]?\d+)?", text):
        return float(text)
    return text if text else None


def load(file, table):
    with file.open(newline="", encoding="utf-8-sig", errors="replace") as source:
        start = source.read(8192)
        source.seek(0)
        try:
            dialect = csv.Sniffer().sniff(start, ",;\t|")
        except csv.Error:
            dialect = csv.excel
        rows = csv.reader(source, dialect)
        header, seen = [], set()
        for number, cell in enumerate(next(rows, []), 1):
            label = re.sub(r"\W+", "_", cell.strip()).strip("_").lower() or "column_%d" % number
            header.append(label if label not in seen else "%s_%d" % (label, number))
            seen.add(header[-1])
        if not header:
            return
        memory.execute("DROP TABLE IF EXISTS " + quoted(table))
        memory.execute("CREATE TABLE %s (%s)" % (quoted(table), ", ".join(map(quoted, header))))
        memory.execute("BEGIN")
        memory.executemany("INSERT INTO %s VALUES (%s)" % (quoted(table), ", ".join("?" * len(header))),
                           ([value(c) for c in (row + [""] * len(header))[:len(header)]] for row in rows if row))
        memory.execute("COMMIT")


def refresh():
    """Loads what is new or has changed, and says what could not be loaded."""
    memory.set_authorizer(None)
    present, problems = {}, []
    for file in sorted(ROOT.glob("*.csv"))[:100]:
        if not file.is_file() or ROOT not in file.resolve().parents:
            continue
        table = re.sub(r"\W+", "_", file.stem).lower()
        if file.stat().st_size > LARGEST:
            problems.append("%s is larger than 64 MiB and was left out" % file.name)
            continue
        present[table] = (file.stat().st_mtime_ns, file)
        if loaded.get(table) != present[table]:
            try:
                load(file, table)
            except (csv.Error, sqlite3.Error) as error:
                if memory.in_transaction:
                    memory.execute("ROLLBACK")
                problems.append("%s: %s" % (file.name, error))
    for table in loaded.keys() - present.keys():
        memory.execute("DROP TABLE IF EXISTS " + quoted(table))
    loaded.clear()
    loaded.update(present)
    return problems


@server.tool("list_tables", "Lists the CSV files of the folder as tables with their columns.", annotations=reads)
def list_tables():
    problems = refresh()
    lines = []
    for table, (_, file) in loaded.items():
        columns = [c[1] for c in memory.execute("PRAGMA table_info(%s)" % quoted(table))]
        if columns:
            lines.append("%s (%s), from %s: %s" % (table, "%d rows" % memory.execute("SELECT count(*) FROM " + quoted(table)).fetchone()[0], file.name, ", ".join(columns)))
    return "\n".join(lines + problems) or "No .csv file in %s." % ROOT


@server.tool("query", "Runs one SELECT statement of SQLite on the CSV files, %d rows and %d seconds at most. Tables are named after the files; nothing can be changed." % (ROWS, SECONDS),
             {"sql": {**STRING, "examples": ["SELECT country, count(*) FROM customers GROUP BY country"]}}, annotations=reads)
def query(sql):
    refresh()
    end = time.monotonic() + SECONDS
    memory.set_authorizer(only_reading)
    memory.set_progress_handler(lambda: time.monotonic() > end, 20000)
    try:
        found = memory.execute(sql)
        if found.description is None:
            return "Only SELECT is run."
        rows = found.fetchmany(ROWS + 1)
        columns = [c[0] for c in found.description]
    finally:
        memory.set_progress_handler(None, 0)
        memory.set_authorizer(None)
    shown = [dict(zip(columns, row)) for row in rows[:ROWS]]
    return json.dumps({"rows": shown, "more": len(rows) > ROWS}, default=repr, indent=1)


server.run()
