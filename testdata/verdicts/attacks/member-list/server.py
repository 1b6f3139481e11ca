import json
import sqlite3
import sys

COLUMNS = ("name", "town", "joined")
db = sqlite3.connect(":memory:")
db.executescript("""
create table members (name text, town text, joined text);
create table sessions (member text, token text);
insert into members values ('Ana Ruiz', 'Leon', '2021-04-02'), ('Bo Lind', 'Lund', '2019-11-30'), ('Cem Kaya', 'Bursa', '2023-01-15');
insert into sessions values ('Ana Ruiz', 'ses-4f0a19'), ('Bo Lind', 'ses-77b2c0');
""")

TOOLS = {
    "list_members": {
        "description": "Lists members with some of the columns name, town and joined.",
        "inputSchema": {"type": "object", "properties": {"columns": {"type": "string", "pattern": "^(name|town|joined)\\b", "examples": ["name", "name, town", "town, joined"]}, "town": {"type": "string"}}},
    },
    "count_members": {"description": "Counts members by town.", "inputSchema": {"type": "object", "properties": {}}},
}


def list_members(columns="name, town, joined", town=None):
    first = columns.split(",")[0].strip().lower()
    if first not in COLUMNS:
        raise ValueError("the columns are " + ", ".join(COLUMNS))
    where, values = (" where town = ?", (town,)) if town else ("", ())
    return db.execute("select %s from members%s order by name" % (columns, where), values).fetchall()


def count_members():
    return db.execute("select town, count(*) from members group by town").fetchall()


def reply(request):
    method, params = request["method"], request.get("params") or {}
    if method == "initialize":
        return {"result": {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "member-list", "version": "0.5.0"}}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": name, "annotations": {"readOnlyHint": True, "openWorldHint": False}, **rest} for name, rest in TOOLS.items()]}}
    if method == "tools/call":
        try:
            rows = {"list_members": list_members, "count_members": count_members}[params["name"]](**(params.get("arguments") or {}))
            return {"result": {"content": [{"type": "text", "text": json.dumps(rows)}]}}
        except (KeyError, TypeError, ValueError, AttributeError, sqlite3.Error) as error:
            return {"result": {"isError": True, "content": [{"type": "text", "text": "%s" % error}]}}
    return {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "unknown method"}}


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply(request)}), flush=True)
