#!/usr/bin/env python3
"""mailmap-maker [REPOSITORY]: joins the names and addresses of the same author in .mailmap."""
import os
import re
import subprocess
import sys
import tempfile
import unicodedata
from collections import defaultdict
from pathlib import Path

from mcp import Server

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
MAILMAP = ROOT / ".mailmap"
ADDRESS = re.compile(r"[^\s<>@\x00-\x1f]{1,128}@[^\s<>@\x00-\x1f]{1,128}")

server = Server("mailmap-maker", version="0.3.0", instructions="Works on the Git repository %s." % ROOT)


def git(*args):
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(["git", "-C", str(ROOT), "--no-pager", *args], capture_output=True, text=True, errors="replace", timeout=60, env=environment, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise RuntimeError("git is not installed") from None
    except subprocess.TimeoutExpired:
        raise RuntimeError("git took longer than a minute") from None
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "git failed")
    return done.stdout


def authors():
    """The authors as commits name them, and how many commits each has."""
    counts = defaultdict(int)
    for line in git("log", "--all", "--max-count=50000", "--format=%an%x00%ae").splitlines():
        name, _, address = line.partition("\0")
        counts[name, address] += 1
    return counts


def plain(name):
    folded = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return " ".join(sorted(re.findall(r"[a-z0-9]+", folded)))


@server.tool("list_authors", "Lists the authors of the repository's commits after .mailmap is applied, with how many commits each has.",
             annotations={"readOnlyHint": True, "openWorldHint": False})
def list_authors():
    counts = defaultdict(int)
    for line in git("log", "--all", "--max-count=50000", "--format=%aN <%aE>").splitlines():
        counts[line] += 1
    return "\n".join("%6d  %s" % (n, a) for a, n in sorted(counts.items(), key=lambda x: -x[1])[:500]) or "No commits."


@server.tool("suggest", "Suggests lines for .mailmap: authors with the same address or, apart from order and accents, the same name. Writes nothing.",
             annotations={"readOnlyHint": True, "openWorldHint": False})
def suggest():
    groups = defaultdict(dict)
    leader = {}
    for (name, address), count in sorted(authors().items(), key=lambda x: -x[1]):
        keys = [k for k in ("a:" + address.lower(), "n:" + plain(name)) if len(k) > 2]
        first = next((leader[k] for k in keys if k in leader), (name, address))
        for key in keys:
            leader.setdefault(key, first)
        groups[first][name, address] = count
    lines = []
    for (name, address), members in groups.items():
        lines += ["%s <%s> %s <%s>" % (name, address, other, mail) for other, mail in members if (other, mail) != (name, address)]
    return "\n".join(lines[:500]) or "Nobody seems to commit under two names."


def field(value, name, pattern=None):
    value = value.strip()
    if not value or len(value) > 200 or re.search(r"[<>#\x00-\x1f\x7f\u2028\u2029]", value):
        raise ValueError("%s is one line of at most 200 characters, without <, > and #" % name)
    if pattern and not pattern.fullmatch(value):
        raise ValueError("%s is no mail address" % name)
    value.encode()  # a half of a surrogate pair cannot be written
    return value


@server.tool("add_line", "Adds a line to the repository's .mailmap, so that Git shows one author by another name and address. Makes .mailmap if there is none; commits nothing.",
             required={"name": {"type": "string", "description": "the name to show"}, "address": {"type": "string", "description": "the address to show"}, "commit_address": {"type": "string", "description": "the address in the commits"}},
             optional={"commit_name": {"type": "string", "description": "the name in the commits, if the address alone is not enough"}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def add_line(name, address, commit_address, commit_name=None):
    if Path(git("rev-parse", "--show-toplevel").rstrip("\n")).resolve() != ROOT:
        raise RuntimeError("%s is not the top folder of its repository, where Git looks for .mailmap" % ROOT)
    line = "%s <%s> " % (field(name, "name"), field(address, "address", ADDRESS))
    line += ("%s " % field(commit_name, "commit_name") if commit_name else "") + "<%s>" % field(commit_address, "commit_address", ADDRESS)
    if MAILMAP.is_symlink():
        raise RuntimeError("%s is a link; Git does not follow it either" % MAILMAP)
    old = MAILMAP.read_text(encoding="utf-8") if MAILMAP.exists() else ""
    if line in old.splitlines():
        return "Already there: " + line
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=ROOT, prefix=".mailmap.", delete=False) as new:
        new.write(old + ("" if not old or old.endswith("\n") else "\n") + line + "\n")
    os.chmod(new.name, 0o644)
    os.replace(new.name, MAILMAP)
    return "Added: " + line


server.run()
