"""Contacts in a dbm.dumb database, which needs nothing but Python."""
import dbm.dumb
import json
import os
import sys

FOLDER = os.path.expanduser("~/.local/share/dbm-contacts")
STRING = {"type": "string", "maxLength": 200}


def database():
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    return dbm.dumb.open(os.path.join(FOLDER, "contacts"), "c", 0o600)


class Contacts:
    def add_contact(self, name, phone="", note=""):
        """Adds a contact, or changes the one of that name."""
        if not name.strip():
            raise ValueError("a contact has a name")
        with database() as db:
            db[name.strip()[:100].encode("utf-8", "replace")] = json.dumps({"phone": phone[:50], "note": note[:200]}).encode()
        return "Saved " + name.strip()[:100]

    def find_contact(self, name):
        """Finds contacts by a part of the name."""
        with database() as db:
            rows = [(k.decode(), json.loads(db[k])) for k in db.keys()]
        found = ["%s: %s %s" % (n, c["phone"], c["note"]) for n, c in sorted(rows) if name.lower() in n.lower()]
        return "\n".join(found) or "Nobody of that name."

    def remove_contact(self, name):
        """Removes the contact of exactly this name."""
        with database() as db:
            key = name.strip().encode("utf-8", "replace")
            if key not in db:
                return "Nobody of that name."
            del db[key]
        return "Removed."


contacts = Contacts()
SCHEMAS = {"add_contact": (["name"], ["phone", "note"]), "find_contact": (["name"], []), "remove_contact": (["name"], [])}


def tools():
    for name, (required, optional) in SCHEMAS.items():
        schema = {"type": "object", "properties": {n: STRING for n in required + optional}, "required": required, "additionalProperties": False}
        yield {"name": name, "description": getattr(contacts, name).__doc__, "inputSchema": schema}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "dbm-contacts", "version": "1.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": list(tools())}
    if method == "tools/call":
        if params.get("name") not in SCHEMAS:
            raise LookupError("no such tool")
        required, optional = SCHEMAS[params["name"]]
        given = params.get("arguments") or {}
        if set(required) - set(given) or set(given) - set(required + optional) or not all(isinstance(v, str) for v in given.values()):
            return {"isError": True, "content": [{"type": "text", "text": "expected strings: " + ", ".join(required + optional)}]}
        try:
            return {"content": [{"type": "text", "text": getattr(contacts, params["name"])(**given)}]}
        except ValueError as error:
            return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    raise LookupError("no such method")


while line := sys.stdin.readline():
    try:
        m = json.loads(line)
    except ValueError:
        continue
    if not isinstance(m, dict) or "id" not in m or "method" not in m:
        continue
    try:
        reply = {"result": handle(m["method"], m.get("params") or {})}
    except LookupError as error:
        reply = {"error": {"code": -32601, "message": str(error)}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": m["id"]} | reply) + "\n")
    sys.stdout.flush()
