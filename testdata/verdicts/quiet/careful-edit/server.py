"""Edits text files below the folder given as argument: exact replacement, owner and mode kept, the old text beside as name~."""
import os
import pathlib
import shutil
import sys
import tempfile

from mcp import Server, STRING

base = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "drafts").resolve()
server = Server("careful-edit", "1.1.1", instructions="Edits drafts below %s. Read a file before you edit it." % base)
PATH = {"type": "string", "description": "relative to the folder of drafts", "examples": ["letter.txt"]}


def find(path, must_exist=True):
    full = (base / path).resolve()
    if base not in full.parents:
        raise ValueError("the file must lie below the folder of drafts")
    if must_exist and not full.is_file():
        raise FileNotFoundError("there is no draft %s; new_draft makes one" % path)
    return full


def swap(full, text):
    """Writes to a temporary file in the same folder, gives it the mode of the old one, and renames it."""
    with tempfile.NamedTemporaryFile("w", dir=full.parent, prefix=".edit-", delete=False, encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    shutil.copystat(full, file.name)
    os.utime(file.name)
    os.replace(file.name, full)


def said(function):
    try:
        return function()
    except (FileNotFoundError, FileExistsError, ValueError) as error:
        return "Nothing was changed: %s." % error


@server.tool("new_draft", "Makes a new draft. One that is there is not replaced.", {"path": PATH, "text": STRING}, annotations={"destructiveHint": False, "openWorldHint": False})
def new_draft(path, text):
    def make():
        full = find(path, must_exist=False)
        full.parent.mkdir(parents=True, exist_ok=True)
        with full.open("x", encoding="utf-8") as file:
            file.write(text)
        return "Made %s." % path
    return said(make)


@server.tool("read_draft", "Reads a draft, with the numbers of its lines.", {"path": PATH}, annotations={"readOnlyHint": True, "openWorldHint": False})
def read_draft(path):
    return said(lambda: "\n".join("%4d  %s" % row for row in enumerate(find(path).read_text("utf-8", "replace").splitlines(), 1)) or "(empty)")


@server.tool("replace_text", "Replaces a passage that occurs exactly once in a draft. The old version is kept beside it as name~.",
             {"path": PATH, "old": {"type": "string", "minLength": 1}, "new": STRING}, annotations={"destructiveHint": True, "openWorldHint": False})
def replace_text(path, old, new):
    def edit():
        full = find(path)
        if not full.stat().st_mode & 0o200:
            return "%s is read-only; set_read_only gives it back." % path
        text = full.read_text("utf-8")
        if not old or text.count(old) != 1:
            return "The passage occurs %d times, so nothing was changed." % (text.count(old) if old else 0)
        shutil.copy2(full, full.with_name(full.name + "~"))
        swap(full, text.replace(old, new))
        return "Replaced."
    return said(edit)


@server.tool("set_read_only", "Takes away the permission to write a draft, or gives it back to its owner.", {"path": PATH}, {"read_only": {"type": "boolean"}},
             annotations={"destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def set_read_only(path, read_only=True):
    def change():
        full = find(path)
        mode = full.stat().st_mode & 0o777
        full.chmod(mode & ~0o222 if read_only else mode | 0o200)
        return "%s is %s now." % (path, "read-only" if read_only else "writable")
    return said(change)


server.run()
