"""Reads the history of one git repository, the folder given as argument; makes the repository there when asked to."""
import os
import re
import subprocess
import sys

from mcp import Server, STRING

root = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ".")
server = Server("repo-history", "1.4.0", instructions="Works on %s. If it is no repository yet, start_repository makes one." % root)
READ = {"readOnlyHint": True, "openWorldHint": False}
SAFE = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.pager=cat"]


class Problem(Exception):
    pass


def git(*arguments):
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_CEILING_DIRECTORIES": os.path.dirname(root), "GIT_TERMINAL_PROMPT": "0"}
    done = subprocess.run(["git", "-C", root, *SAFE, *arguments], env=env, capture_output=True, text=True, errors="replace", timeout=20, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise Problem((done.stderr.strip().splitlines() or ["git failed"])[0])
    return done.stdout[:30000]


def answer(*arguments, empty):
    if not os.path.isdir(os.path.join(root, ".git")):
        return "%s is no git repository; start_repository makes one." % root
    try:
        return git(*arguments) or empty
    except Problem as problem:
        return "git says: %s" % problem


def revision(text):
    if not re.fullmatch(r"[A-Za-z0-9_][\w./@^~-]*", text) or ".." in text:
        raise ValueError("not the name of a revision")
    return text


def inside(path):
    full = os.path.realpath(os.path.join(root, path))
    if full != root and not full.startswith(root + os.sep):
        raise ValueError("the path leads out of the repository")
    return os.path.relpath(full, root)


@server.tool("start_repository", "Makes a git repository of the folder, with a README and a first commit, unless it is one already.",
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def start_repository():
    if os.path.isdir(os.path.join(root, ".git")):
        return "It is a repository already."
    os.makedirs(root, exist_ok=True)
    git("init", "--quiet", "--initial-branch=main", ".")
    if not os.path.exists(os.path.join(root, "README.md")):
        with open(os.path.join(root, "README.md"), "w") as file:
            file.write("# %s\n" % os.path.basename(root))
    git("add", "--", "README.md")
    git("-c", "user.name=repo-history", "-c", "user.email=repo-history@localhost", "-c", "commit.gpgsign=false", "commit", "--quiet", "-m", "First commit")
    return "Made the repository."


@server.tool("log", "Shows the last commits of the repository.", optional={"count": {"type": "integer", "minimum": 1, "maximum": 100}, "path": STRING}, annotations=READ)
def log(count=10, path="."):
    return answer("log", "--max-count=%d" % max(1, min(count, 100)), "--date=short", "--format=%h %ad %an: %s", "--", inside(path), empty="No commits.")


@server.tool("diff", "Shows what changed between a revision and the working tree.", optional={"since": STRING}, annotations=READ)
def diff(since="HEAD"):
    return answer("diff", "--no-ext-diff", "--no-textconv", "--stat", "--patch", "--end-of-options", revision(since), "--", empty="No changes.")


@server.tool("blame", "Shows who last changed each line of a file.", {"path": {"type": "string", "examples": ["README.md"]}}, annotations=READ)
def blame(path):
    return answer("blame", "--date=short", "--", inside(path), empty="The file is empty.")


server.run()
