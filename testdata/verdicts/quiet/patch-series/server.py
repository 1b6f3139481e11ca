#!/usr/bin/env python3
"""patch-series: keeps unified diffs in order, with every earlier version.

The store is a Git repository of this server in ~/.local/share/patch-series/store, made at the first start; each change is
one commit. Your own repositories are not touched. git runs without your Git configuration and without hooks.
"""
import os
import re
import subprocess
import sys

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
STORE = os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "patch-series", "store")
NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
PATCH = re.compile(r"^--- \S.*\n\+\+\+ \S.*\n@@ -\d+(,\d+)? \+\d+(,\d+)? @@", re.M)
MOST = 200_000


class GitError(RuntimeError):
    pass


class Git:
    def __init__(self, folder):
        self.folder = folder
        self.environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": folder, "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0",
            "GIT_AUTHOR_NAME": "patch-series", "GIT_AUTHOR_EMAIL": "patch-series@localhost",
            "GIT_COMMITTER_NAME": "patch-series", "GIT_COMMITTER_EMAIL": "patch-series@localhost"}

    def __call__(self, *arguments, data=None):
        done = subprocess.run(["git", "-c", "core.hooksPath=" + os.devnull, "-c", "gc.auto=0", *arguments], cwd=self.folder, env=self.environment,
                              input=data, stdin=None if data is not None else subprocess.DEVNULL, capture_output=True, timeout=20)
        if done.returncode:
            raise GitError(done.stderr.decode("utf-8", "replace").strip()[:400] or "git ended with %d" % done.returncode)
        return done.stdout.decode("utf-8", "replace")

    def init(self):
        if not os.path.isdir(os.path.join(self.folder, ".git")):
            os.makedirs(self.folder, exist_ok=True)
            self("init", "--quiet", "--initial-branch=main")
            self("commit", "--quiet", "--allow-empty", "--message=Begin")

    def files(self, *under):
        return [line for line in self("ls-files", "-z", "--", *under).split("\0") if line]

    def commit(self, message):
        self("add", "--all", "--", ".")
        self("commit", "--quiet", "--file=-", data=message.encode("utf-8"))
        return self("rev-parse", "--short", "HEAD").strip()


git = Git(STORE)


def name_of(text, what):
    if not NAME.fullmatch(text):
        raise ValueError("the name of a %s has small letters, digits and dashes" % what)
    return text


def find(series, patch):
    """The path of a patch below the store: SERIES/0001-NAME.patch."""
    name_of(series, "series"), name_of(patch, "patch")
    for path in git.files(series):
        if path.rpartition("/")[2][5:] == patch + ".patch":
            return path
    raise ValueError("the series %s has no patch %s" % (series, patch))


def write(path, text):
    full = os.path.join(STORE, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "wb") as file:
        file.write(text)


def counted(text):
    lines = text.splitlines()
    return {"files": sum(line.startswith("+++ ") for line in lines), "added": sum(line.startswith("+") and not line.startswith("+++ ") for line in lines),
            "removed": sum(line.startswith("-") and not line.startswith("--- ") for line in lines)}


SERIES = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$", "examples": ["parser-fixes"]}
ONE = {**SERIES, "examples": ["empty-input"]}
DIFF = {"type": "string", "maxLength": MOST, "description": "A unified diff", "examples": ["--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1 @@\n-hello\n+hello, world\n"]}
READ, ADD, LOSE = ({"readOnlyHint": ro, "destructiveHint": lose, "openWorldHint": False} for ro, lose in ((True, False), (False, False), (False, True)))
server = Server("patch-series", "0.3.0", "Keeps patches in its own Git repository, ~/.local/share/patch-series/store, by running git. Patches are kept and shown, never applied.")


@server.tool("save_patch", "Saves a patch at the end of a series, or a new version of it in its place, as a file and a commit in the store of this server. Earlier versions stay in its history.",
             {"series": SERIES, "patch": ONE, "diff": DIFF}, {"remark": {"type": "string", "maxLength": 300}}, annotations=ADD)
def save_patch(series, patch, diff, remark=""):
    name_of(series, "series"), name_of(patch, "patch")
    if len(diff) > MOST or len(remark) > 300 or not PATCH.search(diff):
        raise ValueError("this is not a unified diff, or it is too long")
    text = (diff if diff.endswith("\n") else diff + "\n").encode("utf-8")
    message = "%s: %s\n\n%s" % (series, patch, remark)
    message.encode("utf-8")  # fails now rather than after the file is written
    try:
        path = find(series, patch)
    except ValueError:
        path = "%s/%04d-%s.patch" % (series, max([int(f.rpartition("/")[2][:4]) for f in git.files(series)], default=0) + 1, patch)
    write(path, text)
    if not git("status", "--porcelain"):
        return "Nothing has changed."
    return {"file": path, "commit": git.commit(message), **counted(diff)}


@server.tool("list_series", "Lists the series and their patches in order.", annotations=READ)
def list_series():
    listed = {}
    for path in git.files():
        series, _, file = path.partition("/")
        listed.setdefault(series, []).append(file[5:-6])
    return listed or "There is no series yet."


@server.tool("show_patch", "Shows a patch in its newest version or in one that patch_history lists.", {"series": SERIES, "patch": ONE}, {"commit": {"type": "string", "pattern": "^[0-9a-f]{7,40}$"}}, annotations=READ)
def show_patch(series, patch, commit="HEAD"):
    if commit != "HEAD" and not re.fullmatch(r"[0-9a-f]{7,40}", commit):
        raise ValueError("commit is one that patch_history lists")
    return git("cat-file", "blob", "%s:%s" % (commit, find(series, patch)))


@server.tool("patch_history", "Lists the versions of a patch: commit, time and remark.", {"series": SERIES, "patch": ONE}, annotations=READ)
def patch_history(series, patch):
    records = git("log", "-z", "--format=%h%x1f%aI%x1f%b", "--", find(series, patch)).split("\0")
    return [dict(zip(("commit", "time", "remark"), (part.strip() for part in record.split("\x1f")))) for record in records if record]


@server.tool("compare_versions", "Shows how the newest version of a patch differs from the one before.", {"series": SERIES, "patch": ONE}, annotations=READ)
def compare_versions(series, patch):
    path = find(series, patch)
    commits = git("log", "-2", "--format=%H", "--", path).split()
    if len(commits) < 2:
        return "There is only one version."
    return git("diff", "--no-ext-diff", "--no-textconv", "--no-color", commits[1], commits[0], "--", path)


@server.tool("drop_patch", "Removes a patch from its series with a commit. Its versions stay in the history of the store, but this server has no tool to bring them back.", {"series": SERIES, "patch": ONE}, annotations=LOSE)
def drop_patch(series, patch):
    path = find(series, patch)
    os.unlink(os.path.join(STORE, path))
    return "Dropped %s with commit %s." % (path, git.commit("%s: drop %s" % (series, patch)))


git.init()
server.run()
