#!/usr/bin/env python3
"""dotfiles-keeper: copies a few settings files from HOME to ~/dotfiles, and says which have changed since.

Only files on the list are touched. Files with credentials are deliberately not on it."""
import difflib
import filecmp
import json
import os
import shutil
import sys
from pathlib import Path

HOME = Path.home()
STORE = HOME / "dotfiles"
KEPT = [".vimrc", ".tmux.conf", ".inputrc", ".editorconfig", ".gitignore_global", ".config/starship.toml"]
NAMES = ", ".join("~/" + n for n in KEPT)


def state(name):
    here, kept = HOME / name, STORE / name
    if not here.is_file():
        return "only kept" if kept.is_file() else "not there"
    if not kept.is_file():
        return "new"
    return "same" if filecmp.cmp(here, kept, shallow=False) else "changed"


def status(_):
    return "\n".join("%-10s ~/%s" % (state(n), n) for n in KEPT)


def collect(_):
    copied = []
    for name in KEPT:
        if state(name) in ("new", "changed"):
            target = STORE / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(HOME / name, target)
            copied.append("~/" + name)
    return "Copied " + ", ".join(copied) if copied else "Everything is kept already."


def show_difference(args):
    name = str(args.get("file", "")).removeprefix("~/")
    if name not in KEPT:
        return "Files on the list: " + NAMES
    texts = [p.read_text(errors="replace").splitlines() if p.is_file() else [] for p in (STORE / name, HOME / name)]
    return "\n".join(difflib.unified_diff(*texts, "kept", "now", lineterm="")) or "No difference."


TOOLS = {
    "status": (status, "Says which of the settings files %s have changed since they were kept in ~/dotfiles." % NAMES, {}, {"readOnlyHint": True}),
    "collect": (collect, "Copies settings files that are new or changed (%s) to ~/dotfiles, over the older copies there." % NAMES, {}, {"destructiveHint": True, "idempotentHint": True}),
    "show_difference": (show_difference, "Shows what changed in a settings file since it was kept in ~/dotfiles.", {"file": {"type": "string", "enum": KEPT}}, {"readOnlyHint": True}),
}


class Rpc:
    def initialize(self, params):
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "dotfiles-keeper", "version": "1.0"}}

    def ping(self, params):
        return {}

    def tools_list(self, params):
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": list(p)}, "annotations": {**a, "openWorldHint": False}}
                          for n, (_, d, p, a) in TOOLS.items()]}

    def tools_call(self, params):
        if params.get("name") not in TOOLS:
            return {"isError": True, "content": [{"type": "text", "text": "No such tool."}]}
        try:
            return {"content": [{"type": "text", "text": TOOLS[params["name"]][0](params.get("arguments") or {})}]}
        except OSError as e:
            return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (e.strerror, e.filename)}]}


METHODS = {"initialize": Rpc.initialize, "ping": Rpc.ping, "tools/list": Rpc.tools_list, "tools/call": Rpc.tools_call}
rpc = Rpc()
for line in sys.stdin:
    try:
        request = json.loads(line)
    except ValueError:
        continue
    if not isinstance(request, dict) or "id" not in request:
        continue
    method = METHODS.get(request.get("method"))
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    if method:
        reply["result"] = method(rpc, request.get("params") or {})
    else:
        reply["error"] = {"code": -32601, "message": "Method not found"}
    os.write(1, json.dumps(reply).encode() + b"\n")
