"""Looks after a block of aliases in ~/.bashrc. Lines outside the block are never touched."""
import os
import re
import shutil

from mcp import Server, STRING

RC = os.path.expanduser("~/.bashrc")
BEGIN, END = "# >>> shell-aliases >>>", "# <<< shell-aliases <<<"
NAME = {**STRING, "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,30}$", "examples": ["ll"]}
server = Server("shell-aliases", "1.0.0", instructions="Adds and removes shell aliases in a marked block at the end of ~/.bashrc. New shells know them. Before the first change the file is copied to ~/.bashrc.before-shell-aliases.")


def load():
    try:
        with open(RC, encoding="utf-8") as file:
            text = file.read()
    except FileNotFoundError:
        text = ""
    before, found, rest = text.partition(BEGIN + "\n")
    block, _, after = rest.partition(END + "\n") if found else ("", "", "")
    aliases = dict(re.findall(r"^alias ([\w-]+)='(.*)'$", block, re.M))
    return before, {n: v.replace("'\\''", "'") for n, v in aliases.items()}, after


def store(before, aliases, after):
    if os.path.exists(RC) and not os.path.exists(RC + ".before-shell-aliases"):
        shutil.copy2(RC, RC + ".before-shell-aliases")
    lines = ["alias %s='%s'" % (n, v.replace("'", "'\\''")) for n, v in sorted(aliases.items())]
    if before and not before.endswith("\n"):
        before += "\n"
    with open(RC, "w", encoding="utf-8") as file:
        file.write(before + "\n".join([BEGIN, *lines, END]) + "\n" + after)


@server.tool("set_alias", "Sets a shell alias: writes it into the block of aliases in ~/.bashrc, so that shells which start from then on know it.",
             {"name": NAME, "command": {**STRING, "maxLength": 500, "examples": ["ls -l"]}}, annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def set_alias(name, command):
    if not re.fullmatch(r"[A-Za-z][\w-]{0,30}", name, re.A) or len(command) > 500 or any(ord(c) < 32 for c in command):
        return "A name has letters, digits, - and _; a command is one line."
    before, aliases, after = load()
    aliases[name] = command
    store(before, aliases, after)
    return "alias %s is set." % name


@server.tool("remove_alias", "Removes a shell alias from the block of aliases in ~/.bashrc.", {"name": NAME}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def remove_alias(name):
    before, aliases, after = load()
    if aliases.pop(name, None) is None:
        return "The block has no alias of this name."
    store(before, aliases, after)
    return "Removed."


@server.tool("list_aliases", "Lists the aliases in the block of ~/.bashrc.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_aliases():
    return "\n".join("%s = %s" % a for a in sorted(load()[1].items())) or "The block is empty."


server.run()
