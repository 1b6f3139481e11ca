#!/usr/bin/env python3
"""Checklists, for what is easily forgotten: before a release, before a journey, at the end of the month."""
from __future__ import annotations

import inspect
import json
import os
import re
import sys
import typing
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean"}


class App:
    """Turns typed functions into MCP tools: hints become the schema, the docstring the description."""

    def __init__(self, name: str, version: str, instructions: str):
        self.about = {"serverInfo": {"name": name, "version": version}, "instructions": instructions, "capabilities": {"tools": {}}}
        self.functions: dict[str, tuple[typing.Callable, dict]] = {}

    def tool(self, *, read_only=False, destructive=False):
        def register(function):
            hints = get_type_hints(function, include_extras=True)
            properties, required = {}, []
            for name, parameter in inspect.signature(function).parameters.items():
                properties[name] = self.schema(hints[name])
                if parameter.default is parameter.empty:
                    required.append(name)
                else:
                    properties[name]["default"] = parameter.default
            self.functions[function.__name__] = (function, {
                "name": function.__name__, "description": inspect.getdoc(function), "inputSchema": {"type": "object", "properties": properties, "required": required},
                "annotations": {"readOnlyHint": read_only, "destructiveHint": destructive, "openWorldHint": False}})
            return function
        return register

    def schema(self, hint) -> dict:
        if get_origin(hint) is Annotated:
            base, description = get_args(hint)
            return {**self.schema(base), "description": description}
        if get_origin(hint) is Literal:
            return {"type": "string", "enum": list(get_args(hint))}
        if get_origin(hint) is list:
            return {"type": "array", "items": self.schema(*get_args(hint))}
        return {"type": PLAIN[hint]}

    def fits(self, value, schema) -> bool:
        if schema["type"] == "array":
            return isinstance(value, list) and all(self.fits(v, schema["items"]) for v in value)
        return PLAIN.get(type(value)) == schema["type"] and value in schema.get("enum", [value])

    def call(self, name: str, arguments: dict) -> dict:
        function, declared = self.functions[name]
        schema = declared["inputSchema"]
        try:
            wrong = [n for n in schema["required"] if n not in arguments]
            wrong += [n for n, v in dict(arguments).items() if n not in schema["properties"] or not self.fits(v, schema["properties"][n])]
            if wrong:
                raise ValueError("missing or wrong: " + ", ".join(wrong))
            return {"content": [{"type": "text", "text": function(**arguments)}]}
        except (ValueError, TypeError, OSError) as e:
            return {"isError": True, "content": [{"type": "text", "text": str(e)}]}

    def serve(self):
        for line in sys.stdin:
            try:
                message = json.loads(line)
                key, method, params = message["id"], message["method"], dict(message.get("params") or {})
            except (ValueError, KeyError, TypeError):
                continue  # a notification, or no request at all
            match method:
                case "initialize": result = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), **self.about}
                case "ping": result = {}
                case "tools/list": result = {"tools": [declared for _, declared in self.functions.values()]}
                case "tools/call" if params.get("name") in self.functions: result = self.call(params["name"], params.get("arguments") or {})
                case _: result = None
            body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "unknown: %s" % method}}
            print(json.dumps({"jsonrpc": "2.0", "id": key, **body}), flush=True)


STORE = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "typed-checklist"
app = App("typed-checklist", "0.3.2", "Checklists are JSON files in ~/.local/share/typed-checklist. Tick an item only when the user says that it is done.")
Name = Annotated[str, "Name of the checklist: letters, digits, - and _"]


def file(name: str) -> Path:
    if not re.fullmatch(r"\w[\w-]{0,50}", name):
        raise ValueError("%r is no name of a checklist" % name)
    return STORE / (name + ".json")


def load(name: str) -> dict:
    try:
        return json.loads(file(name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError("there is no checklist %s; there are: %s" % (name, ", ".join(sorted(p.stem for p in STORE.glob("*.json"))) or "none")) from None


def store(name: str, data: dict) -> None:
    STORE.mkdir(parents=True, exist_ok=True)
    temporary = file(name).with_suffix(".tmp")
    temporary.write_text(json.dumps(data, indent=1, ensure_ascii=False), encoding="utf-8")
    temporary.replace(file(name))


@app.tool()
def new_checklist(name: Name, items: Annotated[list[str], "What is to be done, in this order"]) -> str:
    """Makes a new checklist. An existing one is not replaced."""
    if file(name).exists():
        raise ValueError("%s exists already" % name)
    store(name, {"items": [{"text": i.strip(), "done": None} for i in items if i.strip()]})
    return show_checklist(name)


@app.tool(read_only=True)
def show_checklist(name: Name, only: Literal["all", "open", "done"] = "all") -> str:
    """Shows a checklist with what is done and when."""
    items = list(enumerate(load(name)["items"], 1))
    shown = [(n, i) for n, i in items if only == "all" or (only == "done") == bool(i["done"])]
    return "\n".join("%d. [%s] %s%s" % (n, "x" if i["done"] else " ", i["text"], " (%s)" % i["done"] if i["done"] else "") for n, i in shown) or "Nothing to show."


@app.tool(destructive=True)
def tick(name: Name, item: Annotated[int, "Number of the item, from 1"], done: bool = True) -> str:
    """Ticks an item of a checklist, or takes the tick away."""
    data = load(name)
    if not 1 <= item <= len(data["items"]):
        raise ValueError("%s has %d items" % (name, len(data["items"])))
    data["items"][item - 1]["done"] = datetime.now().strftime("%Y-%m-%d %H:%M") if done else None
    store(name, data)
    return "%d of %d are done." % (sum(bool(i["done"]) for i in data["items"]), len(data["items"]))


app.serve()
