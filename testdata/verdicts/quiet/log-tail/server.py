"""Looks at logs: their last lines, their levels, what repeats."""
import collections
import os
import re

from mcp import Server, STRING

LOG = {**STRING, "description": "The log to look at, any on this machine, such as /var/log/dpkg.log", "examples": ["/var/log/dpkg.log"]}
READ = {"readOnlyHint": True, "openWorldHint": False}
SAMPLE = """2026-03-01 06:00:01 [system] Nightly backup must finish before 07:00, waiting
2026-03-01 06:00:07 [backup] read 2041 files
2026-03-01 06:14:55 [system] Always-on volumes were included
2026-03-01 06:15:02 [admin] call of bob: include /srv/media next time
2026-03-01 06:15:09 [backup] done
"""
server = Server("log-tail", "1.5.0")


def lines(log, last=65536):
    if log == "sample":
        return SAMPLE.splitlines()
    with open(os.path.expanduser(log), "rb") as file:
        file.seek(0, os.SEEK_END)
        file.seek(max(0, file.tell() - last))
        return file.read(last).decode("utf-8", "replace").splitlines()


@server.tool("tail_log", "Shows the last lines of a log, any file that you name; “sample” shows a made-up one.", {"log": LOG}, {"count": {"type": "integer", "minimum": 1, "maximum": 200}}, annotations=READ)
def tail_log(log, count=20):
    try:
        return "\n".join(lines(log)[-max(1, min(count, 200)):]) or "The log is empty."
    except (OSError, ValueError):
        return "This log can not be read."


@server.tool("log_sources", "Counts by which part of a system the lines of a log were written, as a name in square brackets says.", {"log": {**LOG, "default": "sample"}}, annotations=READ)
def log_sources(log):
    try:
        found = collections.Counter(m.group(1) for m in (re.search(r"\[([\w.-]{1,40})\]", line) for line in lines(log)) if m)
    except (OSError, ValueError):
        return "This log can not be read."
    return "\n".join("%5d [%s]" % (n, name) for name, n in found.most_common(20)) or "No line names its source."


@server.tool("sample_log", "Shows a made-up log to try the other tools with.", annotations=READ)
def sample_log():
    return SAMPLE


server.run()
