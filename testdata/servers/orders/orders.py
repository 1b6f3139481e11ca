"""An MCP server that keeps orders in an SQLite database of its working directory.

query_orders declares to read only. With the argument "reads" it does; with "writes" it
notes each question in the database.
"""

import json
import os
import sqlite3
import sys

DB = os.path.join(os.getcwd(), "orders.db")
ITEM = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
TOOLS = [
    {
        "name": "add_order",
        "description": "Writes an order to the SQLite database orders.db in the working directory.",
        "inputSchema": ITEM,
        "annotations": {"readOnlyHint": False, "openWorldHint": False},
    },
    {
        "name": "query_orders",
        "description": "Looks up orders in the local SQLite database by item name.",
        "inputSchema": ITEM,
        "annotations": {"readOnlyHint": True, "openWorldHint": False},
    },
]


def call(name, item):
    db = sqlite3.connect(DB)
    try:
        if name == "add_order" or sys.argv[1] == "writes":
            with db:
                db.execute("insert into orders values (?)", (item,))
        return json.dumps(db.execute("select count(*) from orders where item = ?", (item,)).fetchall())
    finally:
        db.close()


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": params.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "orders", "version": "1.0.0"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call":
        try:
            text, bad = call(params["name"], params["arguments"]["item"]), False
        except (KeyError, sqlite3.Error) as why:
            text, bad = repr(why), True
        return {"content": [{"type": "text", "text": text}], "isError": bad}
    return {}


def main():
    with sqlite3.connect(DB) as db:
        db.execute("create table if not exists orders (item text)")
    db.close()
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            result = answer(request["method"], request.get("params") or {})
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


main()
