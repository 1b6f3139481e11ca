"""Lists, explains and adds targets of a Makefile."""
import re

from mcp import Server, STRING

FILE = "Makefile"
USUAL = {
    "clean": ("Remove what was built", "\trm -rf build dist"),
    "test": ("Run the tests", "\tpython3 -m unittest discover"),
    "lint": ("Look for mistakes", "\tpython3 -m compileall -q ."),
    "help": ("List the targets", "\t@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/ -/'"),
}
server = Server("makefile-targets", "1.1.0", instructions="Works on the Makefile of the working directory. Targets are added and listed, never run.")


def load():
    try:
        with open(FILE, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def targets(text):
    return {m.group(1): (m.group(3) or "").strip() for m in re.finditer(r"^([A-Za-z][\w.-]*):(?!=)([^#\n]*)(?:## ?(.*))?$", text, re.M)}


@server.tool("list_targets", "Lists the targets of the Makefile, with the comments behind them.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_targets():
    return "\n".join("%-16s %s" % t for t in targets(load()).items()) or "The Makefile has no targets yet."


@server.tool("add_target", "Adds one of a few usual targets (clean, test, lint, help) to the end of the Makefile, unless it has one of that name.", {"target": {**STRING, "enum": sorted(USUAL)}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def add_target(target):
    if target not in USUAL:
        return "Known: " + ", ".join(sorted(USUAL))
    text = load()
    if target in targets(text):
        return "The Makefile has this target."
    about, recipe = USUAL[target]
    with open(FILE, "a", encoding="utf-8") as file:
        file.write("%s.PHONY: %s\n%s: ## %s\n%s\n" % ("\n" if text else "", target, target, about, recipe))
    return "Added %s." % target


@server.tool("explain_target", "Shows the lines of one target of the Makefile.", {"target": STRING}, annotations={"readOnlyHint": True, "openWorldHint": False})
def explain_target(target):
    found = re.search(r"^%s:.*\n(?:\t.*\n?)*" % re.escape(target), load(), re.M)
    return found.group(0) if found and target else "There is no such target."


server.run()
