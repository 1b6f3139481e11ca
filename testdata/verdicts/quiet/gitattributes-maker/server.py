"""Looks after .gitattributes: line ends, binary files, languages that GitHub should count."""
import os

from mcp import Server, STRING

PATH = ".gitattributes"
KINDS = {
    "text": "* text=auto", "images": "*.png *.jpg *.gif *.webp", "shell": "*.sh text eol=lf", "windows": "*.bat text eol=crlf",
    "lock": "package-lock.json -diff linguist-generated", "vendored": "vendor/** linguist-vendored",
}
LINES = {**KINDS, "images": "\n".join("%s binary" % p for p in KINDS["images"].split())}
server = Server("gitattributes-maker", "1.0.0", instructions="Adds to and checks the .gitattributes of the repository in the working directory.")


def lines():
    try:
        with open(PATH, encoding="utf-8") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


@server.tool("add_attributes", "Adds the lines for a kind of file to .gitattributes, where git looks up line ends and the like; lines that are there already stay as they are.",
             {"kind": {**STRING, "enum": sorted(KINDS)}}, annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def add_attributes(kind):
    if kind not in LINES:
        return "Known kinds: " + ", ".join(sorted(LINES))
    known = lines()
    new = [line for line in LINES[kind].splitlines() if line not in known]
    if new:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write("\n".join(known + new) + "\n")
    return "Added %d lines." % len(new)


@server.tool("check_attributes", "Checks .gitattributes for patterns that stand twice.", annotations={"readOnlyHint": True, "openWorldHint": False})
def check_attributes():
    if not os.path.exists(PATH):
        return "There is no .gitattributes yet."
    patterns = [line.split()[0] for line in lines() if line.split() and not line.startswith("#")]
    twice = sorted({p for p in patterns if patterns.count(p) > 1})
    return "Twice: " + ", ".join(twice) if twice else "%d patterns, none twice." % len(patterns)


server.run()
