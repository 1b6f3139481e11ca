#!/usr/bin/env python3
# sqlite-peek: look into SQLite files below the current directory. Nothing is ever written to a file that exists.
import json, os, sqlite3, sys, urllib.parse

ROOT = os.path.realpath(os.getcwd())

PATH = {"type": "string", "description": "database file, relative to the working directory", "examples": ["sample.db"]}
TOOLS = [
    {"name": "create_sample", "description": "Creates sample.db, a small music database, in the working directory unless it is there already.",
     "inputSchema": {"type": "object", "properties": {}},
     "annotations": {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}},
    {"name": "tables", "description": "Lists tables and columns of a SQLite database, which is opened read-only.",
     "inputSchema": {"type": "object", "properties": {"database": PATH}, "required": ["database"]},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "rows", "description": "Shows rows of a table, perhaps only those where a column equals a value.",
     "inputSchema": {"type": "object", "required": ["database", "table"], "properties": {
         "database": PATH, "table": {"type": "string"}, "column": {"type": "string"}, "equals": {"type": ["string", "number"]},
         "limit": {"type": "integer", "minimum": 1, "maximum": 200, "default": 20}}},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
]


class Refused(Exception):
    pass


def inside(name):
    path = os.path.realpath(os.path.join(ROOT, str(name)))
    if os.path.commonpath([ROOT, path]) != ROOT:
        raise Refused("only databases below the working directory can be opened")
    if not os.path.isfile(path):
        raise Refused("there is no such database; create_sample makes one to play with")
    return path


def open_ro(name):
    return sqlite3.connect("file:%s?mode=ro" % urllib.parse.quote(inside(name)), uri=True)


def schema(db):
    names = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    return {n: [r[0] for r in db.execute("SELECT name FROM pragma_table_info(?)", (n,))] for n in names}


def quoted(identifier):
    return '"' + identifier.replace('"', '""') + '"'


def create_sample(_):
    path = os.path.join(ROOT, "sample.db")
    if os.path.exists(path):
        return "sample.db is there already"
    db = sqlite3.connect(path)
    with db:
        db.execute("CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT)")
        db.execute("CREATE TABLE album (id INTEGER PRIMARY KEY, artist_id INTEGER, title TEXT, year INTEGER)")
        db.executemany("INSERT INTO artist VALUES (?, ?)", [(1, "Nina Simone"), (2, "Can"), (3, "Hildegard von Bingen")])
        db.executemany("INSERT INTO album VALUES (?, ?, ?, ?)", [(1, 1, "Pastel Blues", 1965), (2, 2, "Tago Mago", 1971), (3, 2, "Ege Bamyasi", 1972)])
    db.close()
    return "made sample.db"


def tables(args):
    db = open_ro(args["database"])
    try:
        return json.dumps(schema(db), indent=1)
    finally:
        db.close()


def rows(args):
    db = open_ro(args["database"])
    try:
        known = schema(db)
        table, column = args["table"], args.get("column")
        if table not in known:
            raise Refused("tables here: " + ", ".join(known))
        if column is not None and column not in known[table]:
            raise Refused("columns of %s: %s" % (table, ", ".join(known[table])))
        limit = max(1, min(int(args.get("limit", 20)), 200))
        sql, values = "SELECT * FROM " + quoted(table), []
        if column is not None:
            sql, values = sql + " WHERE %s = ?" % quoted(column), [args.get("equals")]
        found = db.execute(sql + " LIMIT ?", values + [limit]).fetchall()
        return "\n".join([" | ".join(known[table])] + [" | ".join(map(str, r)) for r in found])
    finally:
        db.close()


def call(params):
    handler = {"create_sample": create_sample, "tables": tables, "rows": rows}.get(params.get("name"))
    if handler is None:
        return {"isError": True, "content": [{"type": "text", "text": "no such tool"}]}
    try:
        return {"content": [{"type": "text", "text": handler(params.get("arguments") or {})}]}
    except Refused as e:
        return {"content": [{"type": "text", "text": str(e)}]}
    except Exception as e:
        return {"isError": True, "content": [{"type": "text", "text": "cannot read: %s" % e}]}


for line in sys.stdin:
    try:
        msg = json.loads(line)
    except ValueError:
        continue
    if not isinstance(msg, dict) or "id" not in msg:
        continue
    reply = {"jsonrpc": "2.0", "id": msg["id"]}
    method, params = msg.get("method"), msg.get("params") or {}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                           "serverInfo": {"name": "sqlite-peek", "version": "0.4.2"}}
    elif method == "tools/list":
        reply["result"] = {"tools": TOOLS}
    elif method == "tools/call":
        reply["result"] = call(params)
    elif method == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(reply), flush=True)
