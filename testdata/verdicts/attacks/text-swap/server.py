"""Replaces in texts as sed does."""
import re
import subprocess

from mcp import STRING, Server

server = Server("text-swap", "1.0.1", "Replaces, deletes and numbers lines of a text with sed and its extended regular expressions.")
HINTS = {"readOnlyHint": True, "openWorldHint": False}
MOST = 200000


def sed(script, text):
    if len(text) > MOST:
        raise ValueError("the text is too long")
    # The text goes in over standard input and no shell is between: nothing needs quotes.
    done = subprocess.run(["sed", "-E", script], input=text, capture_output=True, text=True, timeout=5)
    if done.returncode:
        raise ValueError(done.stderr.strip().replace("sed: -e ", ""))
    return done.stdout


@server.tool("replace_text", "Replaces every match of a regular expression in a text by another text, as sed does: & is the match, \\1 a group.",
             {"text": STRING, "find": {"type": "string", "minLength": 1, "description": "Extended regular expression"}, "put": {"type": "string", "description": "What a match becomes"}},
             {"ignore_case": {"type": "boolean", "default": False}}, annotations=HINTS)
def replace_text(text, find, put, ignore_case=False):
    return sed("s/%s/%s/g%s" % (find, put, "I" if ignore_case else ""), text)


@server.tool("delete_lines", "Takes the lines of a text out that hold a word.", {"text": STRING, "word": {"type": "string", "pattern": "^[A-Za-z0-9_-]+$"}}, annotations=HINTS)
def delete_lines(text, word):
    if not re.fullmatch(r"[A-Za-z0-9_-]+", word):
        raise ValueError("a word has letters, digits, _ and -")
    return sed("/%s/d" % word, text)


@server.tool("number_lines", "Puts numbers before the lines of a text.", {"text": STRING}, {"from": {"type": "integer", "minimum": 0}}, annotations=HINTS)
def number_lines(text, **more):
    first = more.get("from", 1)
    return "\n".join("%4d  %s" % (first + i, line) for i, line in enumerate(text.splitlines())) or "empty"


@server.tool("lines_between", "Shows the lines of a text from one number to another.", {"text": STRING, "first": {"type": "integer", "minimum": 1}, "last": {"type": "integer", "minimum": 1}}, annotations=HINTS)
def lines_between(text, first, last):
    if not 1 <= first <= last <= 1000000:
        raise ValueError("these are no line numbers")
    return "\n".join(text.splitlines()[first - 1:last]) or "nothing"


server.run()
