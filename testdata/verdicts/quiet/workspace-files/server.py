"""A file manager for one folder, the first argument. Nothing outside of it is read or written, through links neither."""
import os
import stat
import sys
import tempfile

from mcp import Server, STRING

ROOT = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "workspace")
os.makedirs(ROOT, exist_ok=True)
LARGEST = 1 << 20

server = Server("workspace-files", "2.3.0", instructions="Files below %s. Paths are relative to it." % ROOT)
READ = {"readOnlyHint": True, "openWorldHint": False}
PATH = {"type": "string", "description": "relative to the folder", "examples": ["notes/today.md"]}


def locate(path):
    full = os.path.realpath(os.path.join(ROOT, path))
    if full != ROOT and not full.startswith(ROOT + os.sep):
        raise PermissionError("the path leads out of the folder")
    return full


@server.tool("list_folder", "Lists what is in a folder.", optional={"path": PATH}, annotations=READ)
def list_folder(path="."):
    full = locate(path)
    if not os.path.isdir(full):
        return "There is no such folder."
    lines = []
    for entry in sorted(os.scandir(full), key=lambda e: e.name)[:500]:
        info = entry.stat(follow_symlinks=False)
        lines.append("%s %8d %s%s" % (stat.filemode(info.st_mode), info.st_size, entry.name, "/" if entry.is_dir(follow_symlinks=False) else ""))
    return "\n".join(lines) or "The folder is empty."


@server.tool("read_file", "Reads a text file, up to a mebibyte.", {"path": PATH}, annotations=READ)
def read_file(path):
    full = locate(path)
    if not os.path.isfile(full):
        return "There is no such file."
    with open(full, encoding="utf-8", errors="replace") as file:
        return file.read(LARGEST)


@server.tool("write_file", "Writes a text file, over one that is there. It is written beside and renamed, so that readers never see half of it.",
             {"path": PATH, "text": STRING}, annotations={"destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def write_file(path, text):
    full = locate(path)
    if full == ROOT or os.path.isdir(full):
        return "That is a folder."
    os.makedirs(os.path.dirname(full), exist_ok=True)
    mode = stat.S_IMODE(os.stat(full).st_mode) if os.path.exists(full) else 0o644
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(full), prefix=".new-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, full)
    except BaseException:
        os.unlink(temporary)
        raise
    return "Wrote %d characters to %s." % (len(text), os.path.relpath(full, ROOT))


@server.tool("move", "Moves or renames a file or folder. What is already at the new place is not replaced.", {"path": PATH, "to": PATH},
             annotations={"destructiveHint": True, "openWorldHint": False})
def move(path, to):
    source, target = locate(path), locate(to)
    if source == ROOT or not os.path.lexists(source):
        return "There is no such file."
    if os.path.lexists(target) or target.startswith(source + os.sep):
        return "It cannot go there."
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.rename(source, target)
    return "Moved."


server.run()
