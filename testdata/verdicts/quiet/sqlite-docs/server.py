"""sqlite-docs: what is in a SQLite file, as Markdown that can go into a repository.

Databases are opened read-only. Only write_docs writes, and only DATABASE.schema.md beside the database."""
import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from mcp import STRING, Server

ROOT = Path.cwd().resolve()
SUFFIXES = {".db", ".sqlite", ".sqlite3"}

server = Server("sqlite-docs", version="1.2.0", instructions="Paths of databases are relative to the working folder.")
DATABASE = {"database": {**STRING, "description": "path of a .db, .sqlite or .sqlite3 file", "examples": ["data/app.db"]}}
READS = {"readOnlyHint": True, "openWorldHint": False}


def locate(path):
    file = (ROOT / path).resolve()
    if ROOT not in file.parents or file.suffix not in SUFFIXES:
        raise ValueError("%s is no database of the working folder" % path)
    if not file.is_file():
        raise FileNotFoundError("there is no %s; find_databases lists what there is" % path)
    return file


def connect(file):
    # Without a write-ahead log the file can be read as it is, and no -shm or -wal appears beside it.
    settled = "" if file.with_name(file.name + "-wal").exists() else "&immutable=1"
    link = sqlite3.connect("file:%s?mode=ro%s" % (quote(str(file)), settled), uri=True, timeout=3)
    link.row_factory = sqlite3.Row
    return closing(link)


def name(identifier):
    return '"%s"' % identifier.replace('"', '""')


def cell(value):
    return str(value).replace("|", "\\|").replace("\n", " ")


def tables(link):
    return link.execute("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type, name").fetchall()


def describe(file):
    lines = ["# %s" % file.name, ""]
    with connect(file) as link:
        for table in tables(link):
            count = link.execute("SELECT count(*) FROM %s" % name(table["name"])).fetchone()[0] if table["type"] == "table" else None
            lines += ["## %s%s" % (table["name"], " (view)" if count is None else ", %d rows" % count), "", "| column | type | null | default |", "|---|---|---|---|"]
            for column in link.execute("SELECT * FROM pragma_table_info(?)", (table["name"],)):
                key = " (key)" if column["pk"] else ""
                lines.append("| %s%s | %s | %s | %s |" % (cell(column["name"]), key, cell(column["type"] or "any"), "no" if column["notnull"] else "yes", cell(column["dflt_value"] or "")))
            for foreign in link.execute("SELECT * FROM pragma_foreign_key_list(?)", (table["name"],)):
                lines.append("\n%s refers to %s(%s)." % (foreign["from"], foreign["table"], foreign["to"] or "its key"))
            for index in link.execute("SELECT * FROM pragma_index_list(?)", (table["name"],)):
                columns = [row["name"] or "an expression" for row in link.execute("SELECT name FROM pragma_index_info(?)", (index["name"],))]
                lines.append("\n%s %s on %s." % ("Unique index" if index["unique"] else "Index", index["name"], ", ".join(columns)))
            lines.append("")
    return "\n".join(lines)


@server.tool("find_databases", "Lists the SQLite files below the working folder.", annotations=READS)
def find_databases():
    found = []
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("node_modules", ".git", ".venv")]
        for file in files:
            path = Path(folder, file)
            if path.suffix in SUFFIXES and path.is_file() and path.stat().st_size >= 100:
                with path.open("rb") as start:
                    if start.read(16) == b"SQLite format 3\0":
                        found.append("%s  %d KiB" % (path.relative_to(ROOT), path.stat().st_size // 1024))
        if len(found) > 200:
            break
    return "\n".join(sorted(found)) or "There is none."


@server.tool("describe_database", "Describes tables, columns, keys and indexes of a SQLite file as Markdown.", DATABASE, annotations=READS)
def describe_database(database):
    return describe(locate(database))


@server.tool("sample_rows", "Shows the first rows of a table, at most 20.", {**DATABASE, "table": STRING}, {"rows": {"type": "integer", "minimum": 1, "maximum": 20}}, annotations=READS)
def sample_rows(database, table, rows=5):
    with connect(locate(database)) as link:
        if table not in [t["name"] for t in tables(link)]:
            return "Tables: " + (", ".join(t["name"] for t in tables(link)) or "none")
        found = link.execute("SELECT * FROM %s LIMIT ?" % name(table), (max(1, min(20, rows)),))
        return "\n".join([" | ".join(c[0] for c in found.description)] + [" | ".join(cell("<%d bytes>" % len(v) if isinstance(v, bytes) else v)[:120] for v in row) for row in found])


@server.tool("write_docs", "Writes the description of a SQLite file to DATABASE.schema.md beside it, over an older one.", DATABASE, annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def write_docs(database):
    file = locate(database)
    target, text = file.with_name(file.name + ".schema.md"), describe(file)
    with tempfile.NamedTemporaryFile("w", dir=file.parent, suffix=".md.tmp", delete=False, encoding="utf-8") as out:
        out.write(text)
    os.chmod(out.name, 0o644)
    os.replace(out.name, target)
    return "Wrote %s." % target.relative_to(ROOT)


server.run()
