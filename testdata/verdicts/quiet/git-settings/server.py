#!/usr/bin/env python3
# git-settings -- shows the user's git configuration (~/.gitconfig and what it includes), with credentials masked.
import json
import re
import subprocess
import sys

SECRET = re.compile(r"token|password|secret|extraheader|oauth|helper$", re.I)
IN_URL = re.compile(r"(\w+://)[^/@\s]+@")

ADVICE = {
    "user.email": "needed for commits", "init.defaultbranch": "main is usual today", "pull.rebase": "true keeps the history straight",
    "push.autosetupremote": "true saves --set-upstream", "rerere.enabled": "true remembers how conflicts were solved", "merge.conflictstyle": "zdiff3 shows the common ancestor",
}


def mask(name, value):
    return "(hidden)" if SECRET.search(name) else IN_URL.sub(r"\1(hidden)@", value)


def settings():
    try:
        done = subprocess.run(["git", "config", "--global", "--list", "-z"], capture_output=True, text=True, errors="replace", timeout=10, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        return {}
    found = {}
    for entry in done.stdout.split("\0"):
        name, _, value = entry.partition("\n")
        if name:
            found[name] = mask(name, value)
    return found


def list_settings(args):
    section = str(args.get("section") or "").lower()
    rows = ["%s = %s" % item for item in sorted(settings().items()) if item[0].lower().startswith(section)]
    return "\n".join(rows) or "Nothing is set."


def get_setting(args):
    return settings().get(str(args["name"]).lower(), "not set")


def check_settings(_):
    have = {name.lower() for name in settings()}
    return "\n".join("%s is not set: %s" % item for item in ADVICE.items() if item[0] not in have) or "All as recommended."


TOOLS = [
    dict(name="list_settings", description="Lists your global git settings (from ~/.gitconfig). Credentials in them are hidden.",
         inputSchema=dict(type="object", properties=dict(section=dict(type="string", description="e.g. user, alias, core")))),
    dict(name="get_setting", description="Shows one of your global git settings. Credentials are hidden.",
         inputSchema=dict(type="object", properties=dict(name=dict(type="string", examples=["user.name"])), required=["name"])),
    dict(name="check_settings", description="Compares your global git settings with what is commonly recommended. Changes nothing.",
         inputSchema=dict(type="object", properties={})),
]
for tool in TOOLS:
    tool["annotations"] = dict(readOnlyHint=True, openWorldHint=False)
HANDLERS = dict(list_settings=list_settings, get_setting=get_setting, check_settings=check_settings)


def respond(id, **body):
    sys.stdout.write(json.dumps(dict(jsonrpc="2.0", id=id, **body)) + "\n")
    sys.stdout.flush()


def main():
    for line in sys.stdin:
        line = line.strip()
        if not line:
            continue
        try:
            msg = json.loads(line)
        except json.JSONDecodeError:
            respond(None, error=dict(code=-32700, message="Parse error"))
            continue
        if not isinstance(msg, dict):
            respond(None, error=dict(code=-32600, message="Invalid request"))
            continue
        method, id = msg.get("method", ""), msg.get("id")
        if id is None:
            continue
        if method == "initialize":
            respond(id, result=dict(protocolVersion=(msg.get("params") or {}).get("protocolVersion", "2025-06-18"), capabilities=dict(tools={}), serverInfo=dict(name="git-settings", version="0.3")))
        elif method == "tools/list":
            respond(id, result=dict(tools=TOOLS))
        elif method == "ping":
            respond(id, result={})
        elif method == "tools/call":
            params = msg.get("params") or {}
            handler = HANDLERS.get(params.get("name"))
            if handler is None:
                respond(id, error=dict(code=-32602, message="Unknown tool"))
                continue
            try:
                respond(id, result=dict(content=[dict(type="text", text=handler(params.get("arguments") or {}))]))
            except KeyError as missing:
                respond(id, result=dict(isError=True, content=[dict(type="text", text="missing argument %s" % missing)]))
            except subprocess.TimeoutExpired:
                respond(id, result=dict(isError=True, content=[dict(type="text", text="git took too long")]))
        else:
            respond(id, error=dict(code=-32601, message="Method not found"))


if __name__ == "__main__":
    main()
