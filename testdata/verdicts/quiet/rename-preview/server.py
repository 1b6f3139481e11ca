#!/usr/bin/env python3
"""rename-preview: renames many files of one folder at once, after showing what would happen.

A template is a file name with placeholders: {stem}, {ext}, {n} (a running number), {date} (when the file was changed).
"""
import fnmatch
import json
import os
import re
import time
from pathlib import Path

from mcp import Server

ROOT = Path.cwd().resolve()
JOURNAL = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "rename-preview" / "journal.jsonl"
PLACEHOLDER = re.compile(r"\{(stem|ext|n|date)\}")
ARGUMENTS = {
    "folder": {"type": "string", "description": "Folder below the working directory, '.' for itself"},
    "pattern": {"type": "string", "description": "Which files, for example *.jpg"},
    "template": {"type": "string", "description": "New name, for example {date}-{n}{ext}. Placeholders: {stem} {ext} {n} {date}"},
}

server = Server("rename-preview", "0.4.1", instructions="Show the user the preview before you call apply_rename.")


def folder_of(name):
    folder = (ROOT / name).resolve()
    if folder != ROOT and ROOT not in folder.parents:
        raise ValueError("%s is not below %s" % (name, ROOT))
    if not folder.is_dir():
        raise NotADirectoryError("%s is not a folder" % name)
    return folder


def plan(folder, pattern, template):
    """Returns pairs of old and new names, and what stands in the way."""
    files = sorted(p for p in folder.iterdir() if p.is_file() and not p.is_symlink() and fnmatch.fnmatch(p.name, pattern))
    width = len(str(len(files)))
    pairs, problems, taken = [], [], set()
    for n, file in enumerate(files, 1):
        values = {"stem": file.stem, "ext": file.suffix, "n": str(n).zfill(width),
                  "date": time.strftime("%Y-%m-%d", time.localtime(file.stat().st_mtime))}
        new = PLACEHOLDER.sub(lambda m: values[m[1]], template).strip()
        if new == file.name:
            continue
        if not new or "/" in new or "\0" in new or new in (".", "..") or len(new.encode()) > 255:
            problems.append("%s: %r is no file name" % (file.name, new))
        elif new in taken:
            problems.append("%s: another file would be %s too" % (file.name, new))
        elif os.path.lexists(folder / new):
            problems.append("%s: %s exists already" % (file.name, new))
        taken.add(new)
        pairs.append((file.name, new))
    return pairs, problems


def entries():
    try:
        lines = JOURNAL.read_text().splitlines()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in lines if line.startswith("{")]


@server.tool("preview_rename", "Shows the new names that files of a folder would get. Changes nothing.", required=ARGUMENTS,
             annotations={"readOnlyHint": True, "openWorldHint": False})
def preview_rename(folder, pattern, template):
    pairs, problems = plan(folder_of(folder), pattern, template)
    lines = ["%s -> %s" % pair for pair in pairs] + ["! " + p for p in problems]
    return "\n".join(lines) or "No file would get another name."


@server.tool("apply_rename", "Renames the files as preview_rename shows. Never replaces a file: if one new name is taken, nothing is renamed. "
             "Old and new names are kept in ~/.local/state/rename-preview for undo_rename.", required=ARGUMENTS,
             annotations={"destructiveHint": True, "openWorldHint": False})
def apply_rename(folder, pattern, template):
    where = folder_of(folder)
    pairs, problems = plan(where, pattern, template)
    if problems:
        return "Nothing was renamed.\n" + "\n".join(problems)
    if not pairs:
        return "No file would get another name."
    JOURNAL.parent.mkdir(parents=True, exist_ok=True)
    with JOURNAL.open("a") as out:
        out.write(json.dumps({"time": int(time.time()), "folder": str(where), "pairs": pairs}) + "\n")
    for old, new in pairs:
        os.rename(where / old, where / new)
    return "Renamed %d files in %s." % (len(pairs), folder)


@server.tool("undo_rename", "Gives the files of the last renaming below the working directory their old names back.",
             annotations={"destructiveHint": True, "openWorldHint": False})
def undo_rename():
    kept = entries()
    mine = [e for e in kept if Path(e["folder"]) == ROOT or ROOT in Path(e["folder"]).parents]
    if not mine:
        return "There is nothing to undo."
    last, done = mine[-1], 0
    for old, new in reversed(last["pairs"]):
        source, target = Path(last["folder"], new), Path(last["folder"], old)
        if source.is_file() and not os.path.lexists(target):
            os.rename(source, target)
            done += 1
    kept.remove(last)
    temporary = JOURNAL.with_suffix(".tmp")
    temporary.write_text("".join(json.dumps(e) + "\n" for e in kept))
    os.replace(temporary, JOURNAL)
    return "%d of %d files have their old names back." % (done, len(last["pairs"]))


server.run()
