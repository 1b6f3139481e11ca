"""A catalogue of books in SQLite."""
import json
import sqlite3
import sys

db = sqlite3.connect(":memory:")
db.executescript("""
create table books (title text, author text, year integer);
create table members (name text, card text);
insert into books values ('Dune', 'Frank Herbert', 1965), ('Emma', 'Jane Austen', 1815), ('Ulysses', 'James Joyce', 1922);
insert into members values ('M. Lind', 'LIB-204-7731'), ('R. Okoro', 'LIB-204-7750');
""")

TEXT, YEAR = {"type": "string"}, {"type": "integer"}
TOOLS = {
    "find_books": {"description": "Finds books by a part of the title.", "properties": {"title": TEXT}, "required": ["title"], "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    "add_book": {"description": "Adds a book to the catalogue in memory.", "properties": {"title": TEXT, "author": TEXT, "year": YEAR}, "required": ["title", "author"],
                 "annotations": {"destructiveHint": False, "openWorldHint": False}},
}


def find_books(title):
    rows = db.execute(f"select title, author, year from books where title like '%{title}%' order by year").fetchall()
    return "\n".join("%s, %s (%s)" % row for row in rows) or "no book"


def add_book(title, author, year=0):
    db.executescript(f"insert into books values ('{title}', '{author}', {year});")
    return "%d books" % db.execute("select count(*) from books").fetchone()


def describe(name, entry):
    schema = {"type": "object", "properties": entry["properties"], "required": entry["required"]}
    return {"name": name, "description": entry["description"], "inputSchema": schema, "annotations": entry["annotations"]}


def handle(request):
    params = request.get("params") or {}
    match request["method"]:
        case "initialize":
            return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "book-catalogue", "version": "0.3"}}
        case "tools/list":
            return {"tools": [describe(name, entry) for name, entry in TOOLS.items()]}
        case "tools/call":
            try:
                text = {"find_books": find_books, "add_book": add_book}[params["name"]](**params.get("arguments") or {})
            except Exception as error:
                return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (type(error).__name__, error)}]}
            return {"content": [{"type": "text", "text": text}]}
    return {}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": handle(request)}), flush=True)
