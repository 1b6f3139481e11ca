#!/usr/bin/env python3
"""weekly-standup: what did I do? Own commits of the last days from all repositories below one folder.

Settings in ~/.config/weekly-standup.ini:
    [standup]
    folder = ~/src
    notes = ~/standups
    author = me@home.example      ; otherwise the user.email of git
"""
import configparser
import datetime
import json
import os
import subprocess
import sys
from pathlib import Path

settings = configparser.ConfigParser(interpolation=None)
settings.read(Path.home() / ".config" / "weekly-standup.ini")
setting = lambda key, fallback: settings.get("standup", key, fallback=fallback)
SOURCES = Path(setting("folder", "~/src")).expanduser()
NOTES = Path(setting("notes", "~/standups")).expanduser()
SKIPPED = {"node_modules", "vendor", "target", ".venv", ".cache"}


def git(*args, cwd=None):
    env = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    done = subprocess.run(["git", "--no-pager", "-c", "log.showSignature=false", *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=20)
    return done.stdout if done.returncode == 0 else ""


def repositories():
    found = []
    for folder, names, _ in os.walk(SOURCES):
        if ".git" in names or os.path.isfile(os.path.join(folder, ".git")):
            found.append(Path(folder))
            names[:] = []
            continue
        deep = len(Path(folder).relative_to(SOURCES).parts) >= 3
        names[:] = [] if deep else sorted(n for n in names if n not in SKIPPED and not n.startswith("."))
        if len(found) >= 200:
            break
    return found


def me():
    return setting("author", "") or git("config", "--get", "user.email").strip()


def list_repositories(args):
    return "\n".join("%s  (%s)" % (r, git("log", "-1", "--format=%cs %s", cwd=r).strip() or "no commits") for r in repositories()) or "No repository below %s." % SOURCES


def my_commits(args):
    days = args.get("days", 7)
    if type(days) is not int or not 1 <= days <= 92:
        raise ValueError("days is a number from 1 to 92")
    author = me()
    if not author:
        raise ValueError("git has no user.email, and ~/.config/weekly-standup.ini no author")
    parts = []
    for repository in repositories():
        log = git("log", "--all", "--no-merges", "--fixed-strings", "--author=" + author, "--since=%d.days" % days, "--format=%cs %h %s", "--max-count=200", cwd=repository)
        if log.strip():
            parts.append("## %s\n%s" % (repository.relative_to(SOURCES), log.strip()))
    return "\n\n".join(parts) or "No commit by %s in the last %d days." % (author, days)


def save_standup(args):
    text = args.get("text")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("text: the stand-up in Markdown")
    NOTES.mkdir(parents=True, exist_ok=True)
    path = NOTES / (datetime.date.today().isoformat() + ".md")
    with open(path, "a", encoding="utf-8", errors="replace") as out:
        out.write(("\n" if out.tell() else "") + text.rstrip() + "\n")
    return "Added to %s." % path


def last_standup(args):
    files = sorted(NOTES.glob("????-??-??.md"))
    return "%s\n\n%s" % (files[-1].stem, files[-1].read_text(encoding="utf-8", errors="replace")[:20000]) if files else "Nothing in %s yet." % NOTES


LOCAL = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = {f.__name__: (f, description, properties, required, annotations) for f, description, properties, required, annotations in [
    (list_repositories, "Lists the git repositories below %s with their last commit." % SOURCES, {}, [], LOCAL),
    (my_commits, "Collects your own commits of the last days from all repositories below %s, by running git log in each." % SOURCES,
     {"days": {"type": "integer", "minimum": 1, "maximum": 92, "default": 7}}, [], LOCAL),
    (save_standup, "Appends a stand-up to today's file in %s." % NOTES, {"text": {"type": "string"}}, ["text"], {"readOnlyHint": False, "destructiveHint": False}),
    (last_standup, "Shows the newest stand-up that was saved.", {}, [], LOCAL),
]}


def reply(message):
    method, params = message.get("method"), message.get("params")
    params = params if isinstance(params, dict) else {}
    if method == "initialize":
        return {"result": {"protocolVersion": params.get("protocolVersion", "2025-03-26"), "capabilities": {"tools": {"listChanged": False}}, "serverInfo": {"name": "weekly-standup", "version": "2.0.0"}}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        return {"result": {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": a} for n, (_, d, p, r, a) in TOOLS.items()]}}
    if method != "tools/call":
        return {"error": {"code": -32601, "message": "Method not found"}}
    if params.get("name") not in TOOLS:
        return {"error": {"code": -32602, "message": "Unknown tool"}}
    args = params.get("arguments")
    try:
        return {"result": {"content": [{"type": "text", "text": TOOLS[params["name"]][0](args if isinstance(args, dict) else {})}]}}
    except (OSError, ValueError, subprocess.SubprocessError) as e:
        return {"result": {"isError": True, "content": [{"type": "text", "text": str(e)}]}}


if __name__ == "__main__":
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if isinstance(message, dict) and "id" in message and "method" in message:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply(message)}) + "\n")
            sys.stdout.flush()
