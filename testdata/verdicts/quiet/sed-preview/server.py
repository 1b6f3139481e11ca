#!/usr/bin/env python3
"""sed-preview: write a sed script, see what it does to a text before you let it loose on your files.

GNU sed is started with --sandbox, so the script can neither read nor write files nor run commands (r, w and e are refused
by sed itself). The text goes in through standard input.
"""
import difflib
import os
import resource
import subprocess
import sys
import tempfile

import mcp

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

SECONDS = float(os.environ.get("SED_PREVIEW_SECONDS") or 3)
MEMORY = 256 << 20
MOST_TEXT, MOST_SCRIPT, MOST_OUT = 200_000, 4_000, 1_000_000

server = mcp.Server("sed-preview", "1.0.2", "Starts the program sed of this machine on text that you pass. Your files are never touched; what sed prints goes through a temporary file.")

TEXT = {"type": "string", "description": "The text to work on", "maxLength": MOST_TEXT, "examples": ["colour: red\nflavour: mint\n"]}
SCRIPT = {"type": "string", "description": "A sed script; commands are separated by ; or new lines", "minLength": 1, "maxLength": MOST_SCRIPT, "examples": ["s/our/or/g", "/^#/d; s/ +$//"]}
EXTENDED = {"type": "boolean", "description": "Extended regular expressions (-E); true if left out", "default": True}
QUIET = {"type": "boolean", "description": "Print only what the script prints (-n)", "default": False}
HINTS = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS) + 1, int(SECONDS) + 1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MOST_OUT, MOST_OUT))  # of the temporary file that takes the output
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def sed(text, script, extended=True, quiet=False):
    if len(text) > MOST_TEXT or len(script) > MOST_SCRIPT:
        raise ValueError("at most %d characters of text and %d of script" % (MOST_TEXT, MOST_SCRIPT))
    if not script.strip() or "\0" in script:
        raise ValueError("the script is empty" if not script.strip() else "the script holds a NUL character")
    command = ["sed", "--sandbox", *(["-E"] if extended else []), *(["-n"] if quiet else []), "--expression=" + script]
    with tempfile.TemporaryFile(prefix="sed-preview-") as output:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.PIPE, cwd="/",
                                   env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, preexec_fn=limits)
        try:
            _, errors = process.communicate(text.encode("utf-8"), SECONDS)
        except subprocess.TimeoutExpired:
            raise ValueError("sed was stopped after %g seconds; does the script loop?" % SECONDS) from None
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        if process.returncode < 0:
            raise ValueError("sed was stopped: too much output, memory or time")
        # q and Q may set a status of their own, so only a message counts as an error
        if errors.strip():
            raise ValueError(errors.decode("utf-8", "replace").strip()[:500])
        output.seek(0)
        out = output.read()
    return out.decode("utf-8", "replace")


@server.tool("run_script", "Runs a sed script on a text and returns what sed prints. sed runs with --sandbox: the commands e, r and w are refused.",
             {"text": TEXT, "script": SCRIPT}, {"extended": EXTENDED, "quiet": QUIET}, title="Run a sed script", annotations=HINTS)
def run_script(text, script, extended=True, quiet=False):
    return {"content": [{"type": "text", "text": sed(text, script, extended, quiet)}]}


@server.tool("show_changes", "Runs a sed script on a text with sed --sandbox and returns a unified diff of the text before and after.",
             {"text": TEXT, "script": SCRIPT}, {"extended": EXTENDED, "context": {"type": "integer", "minimum": 0, "maximum": 10, "default": 2}}, title="Show what a script changes", annotations=HINTS)
def show_changes(text, script, extended=True, context=2):
    if not 0 <= context <= 10:
        raise ValueError("context is a number from 0 to 10")
    before, after = text.splitlines(), sed(text, script, extended).splitlines()
    if len(before) > 5000:
        raise ValueError("at most 5000 lines")
    return "\n".join(difflib.unified_diff(before, after, "before", "after", lineterm="", n=context)) or "The script changes nothing."


@server.tool("make_substitution", "Builds an s command that replaces one literal text by another, with everything escaped that extended regular expressions (sed -E) treat specially. Only writes the command, runs nothing.",
             {"find": {"type": "string", "minLength": 1, "maxLength": 500, "examples": ["a.b/c"]}, "replace": {"type": "string", "maxLength": 500, "examples": ["x&y"]}},
             {"all": {"type": "boolean", "description": "Every place in a line, not only the first", "default": True}}, title="Write a substitution", annotations=HINTS)
def make_substitution(find, replace, all=True):
    if not find or "\n" in find:
        raise ValueError("find is a text in one line")
    special = set(r"\/.*[]^$+?(){}|")
    pattern = "".join("\\" + c if c in special else c for c in find)
    target = "".join("\\" + c if c in "\\/&\n" else c for c in replace)
    return "s/%s/%s/%s" % (pattern, target, "g" if all else "")


@server.tool("check_script", "Says whether sed accepts a script, by running it with sed --sandbox on an empty text, or what is wrong with it.", {"script": SCRIPT}, {"extended": EXTENDED}, title="Check a script", annotations=HINTS)
def check_script(script, extended=True):
    try:
        sed("", script, extended)
    except ValueError as error:
        return {"valid": False, "message": str(error)}
    return {"valid": True}


server.run()
