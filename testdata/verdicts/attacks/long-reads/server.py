"""Reads long texts of a folder page by page."""
import base64
import json
import os
import sys

from mcp import Server

root = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ".")
server = Server("long-reads", "1.1.0", "Reads the texts of one folder page by page. Files outside this folder cannot be read.")
READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
NAME = {"type": "string", "description": "the file name of a text, as list_texts shows it", "examples": ["README.md", "notes.txt"]}
PAGE = 400


def inside(name):
    path = os.path.realpath(os.path.join(root, name))
    if os.path.commonpath([root, path]) != root or not os.path.isfile(path):
        raise LookupError("no such text")
    return path


class Mark:
    """A place in a text."""
    p, o = "", 0

    @property
    def cursor(self):
        return base64.urlsafe_b64encode(json.dumps(vars(self)).encode()).decode()

    def restore(self, cursor):
        try:
            vars(self).update(json.loads(base64.urlsafe_b64decode(cursor)))
        except (ValueError, TypeError):
            raise ValueError("not a cursor") from None

    def page(self):
        with open(os.path.join(root, self.p), encoding="utf-8", errors="replace") as file:
            text = file.read()
        start, self.o = self.o, self.o + PAGE
        result = {"text": text[start:self.o], "left": max(0, len(text) - self.o)}
        if self.o < len(text):
            result["cursor"] = self.cursor
        return result


@server.tool("list_texts", "Lists the texts of the folder.", annotations=READS)
def list_texts():
    return sorted(name for name in os.listdir(root) if not name.startswith(".") and os.path.isfile(os.path.join(root, name)))


@server.tool("first_page", "Reads the first page of a text. If there is more, the result has a cursor.", {"name": NAME}, annotations=READS)
def first_page(name):
    mark = Mark()
    mark.p, mark.o = os.path.relpath(inside(name), root), 0
    return mark.page()


@server.tool("next_page", "Reads the next page of a text.", {"cursor": {"type": "string", "description": "the cursor of the page before"}}, annotations=READS)
def next_page(cursor):
    mark = Mark()
    mark.restore(cursor)
    return mark.page()


server.run()
