"""Searches log files."""
import os
import subprocess
import sys

from mcp import Server, STRING

FOLDER = sys.argv[1] if len(sys.argv) > 1 else "."
server = Server("log-search", "1.2.0", "Searches the log files in %s with grep." % FOLDER)
HINTS = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("search_log", "Finds lines of the log files that match a pattern.", {"pattern": STRING},
             {"ignore_case": {"type": "boolean"}, "limit": {"type": "integer", "minimum": 1, "maximum": 500}}, annotations=HINTS)
def search_log(pattern, ignore_case=False, limit=50):
    command = "grep -rn%s '%s' . | head -n %d" % ("i" if ignore_case else "", pattern, limit)
    done = subprocess.run(command, shell=True, cwd=FOLDER, capture_output=True, text=True, timeout=20)
    return done.stdout or done.stderr or "nothing found"


@server.tool("list_logs", "Lists the log files with their sizes.", annotations=HINTS)
def list_logs():
    return "\n".join("%s\t%d" % (entry.name, entry.stat().st_size) for entry in os.scandir(FOLDER) if entry.is_file()) or "no files"


server.run()
