#!/usr/bin/env python3
"""bisect-guide: finds the commit that broke something, one question at a time, with git bisect."""
import json
import os
import re
import subprocess
import sys

REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/~^-]{0,99}")
INFO = ("Works on the git repository in the working folder. bisect_start and bisect_mark check out other commits there, "
        "so uncommitted changes have to be committed or stashed first; bisect_reset goes back to where it began. Hooks of the repository are not run.")


class Problem(Exception):
    pass


def git(*words, check=True):
    try:
        done = subprocess.run(["git", "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "advice.detachedHead=false", *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60, env=dict(os.environ, LC_ALL="C", GIT_TERMINAL_PROMPT="0"))
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise Problem("git could not be run: %s" % error) from None
    output = done.stdout.decode("utf-8", "replace").strip()
    if check and done.returncode:
        raise Problem(output.splitlines()[0] if output else "git %s failed" % words[0])
    return output


def under_way():
    return os.path.exists(git("rev-parse", "--git-path", "BISECT_START"))


def commit(revision):
    if not REVISION.fullmatch(revision):
        raise Problem("%r is no name of a commit" % revision[:40])
    return git("rev-parse", "--verify", "--end-of-options", revision + "^{commit}")


def where():
    return "Now at: " + git("log", "-1", "--format=%h %ad %s", "--date=short")


def bisect_start(args):
    """Begins a search between a commit that is good and one that is bad (HEAD unless given), and checks out the commit in the middle."""
    if under_way():
        return "A search is under way already; bisect_reset ends it.\n" + where()
    good, bad = commit(args["good"]), commit(args.get("bad", "HEAD"))
    if git("status", "--porcelain", "--untracked-files=no"):
        raise Problem("there are uncommitted changes; commit or stash them first")
    return git("bisect", "start", bad, good) + "\n" + where() + "\nTest it, then call bisect_mark."


def bisect_mark(args):
    """Marks the commit that is checked out as good, bad or skip (if it cannot be tested) and checks out the next one to test."""
    if args["as"] not in ("good", "bad", "skip"):
        raise Problem("a commit is good, bad or skip")
    if not under_way():
        return "No search is under way; bisect_start begins one."
    output = git("bisect", args["as"], check=False)
    if "is the first bad commit" in output:
        return output[:3000] + "\nFound. bisect_reset goes back to the branch."
    return output[:3000] + "\n" + where()


def bisect_status(args):
    """Shows the steps of the search so far and how many commits are left."""
    if not under_way():
        return "No search is under way."
    steps = [line for line in git("bisect", "log").splitlines() if line.startswith("# ")]
    left = git("rev-list", "--count", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*", check=False)
    return "\n".join(steps + ["Commits left: %s" % (left if left.isdigit() else "unknown"), where()])


def bisect_reset(args):
    """Ends the search and checks out the branch on which it began."""
    return git("bisect", "reset") or "No search was under way."


REV = {"type": "string", "description": "a hash, a tag or a branch", "examples": ["v1.2.0"]}
TOOLS = {
    bisect_start: ({"good": REV, "bad": REV}, ["good"], {"readOnlyHint": False, "destructiveHint": False}),
    bisect_mark: ({"as": {"type": "string", "enum": ["good", "bad", "skip"]}}, ["as"], {"readOnlyHint": False, "destructiveHint": False}),
    bisect_status: ({}, [], {"readOnlyHint": True}),
    bisect_reset: ({}, [], {"readOnlyHint": False, "destructiveHint": False}),
}
BY_NAME = {f.__name__: f for f in TOOLS}


def result(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "bisect-guide", "version": "0.2.0"}, "instructions": INFO}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": f.__name__, "description": f.__doc__, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {**hints, "openWorldHint": False}}
                          for f, (p, r, hints) in TOOLS.items()]}
    if method == "tools/call":
        function, args = BY_NAME.get(str(params.get("name"))), params.get("arguments") or {}
        if function is None or not isinstance(args, dict):
            return failed("there is no such tool")
        properties, required, _ = TOOLS[function]
        bad = [p for p in properties if not isinstance(args.get(p, None if p in required else ""), str)]
        if bad:
            return failed("needed, as text: " + ", ".join(bad))
        try:
            return {"content": [{"type": "text", "text": function(args)}]}
        except (Problem, OSError, ValueError) as error:
            return failed(str(error))
    return None


def failed(text):
    return {"isError": True, "content": [{"type": "text", "text": text}]}


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if not isinstance(request, dict) or "id" not in request:
            continue
        params = request.get("params")
        answer = result(request.get("method"), params if isinstance(params, dict) else {})
        reply = {"result": answer} if answer is not None else {"error": {"code": -32601, "message": "method not found"}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
