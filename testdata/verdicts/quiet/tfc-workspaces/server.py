#!/usr/bin/env python3
"""tfc-workspaces: reads workspaces and runs of HCP Terraform (Terraform Cloud). Changes nothing there."""
import http.client
import json
import os
import re
import time
from pathlib import Path
from urllib.parse import quote, urlencode

from mcp import STRING, Server

HOST = "app.terraform.io"
LOGIN = Path.home() / ".terraform.d" / "credentials.tfrc.json"
READ = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True}

server = Server("tfc-workspaces", "0.3.1", instructions=(
    "Read-only view of HCP Terraform. The token is TF_TOKEN_app_terraform_io, or the one that `terraform login` saved in ~/.terraform.d/credentials.tfrc.json; "
    "it is sent to app.terraform.io only. Variables of workspaces are never asked for."))
cache = {}


def token():
    value = os.environ.get("TF_TOKEN_app_terraform_io")
    if value:
        return value
    try:
        value = json.loads(LOGIN.read_text())["credentials"][HOST]["token"]
    except FileNotFoundError:
        raise RuntimeError("not logged in: run terraform login, or set TF_TOKEN_app_terraform_io") from None
    except (ValueError, KeyError, TypeError):
        raise RuntimeError("%s has no token for %s" % (LOGIN, HOST)) from None
    return value


def get(path, **query):
    """Answers are kept for half a minute: the API allows thirty requests a second, shared by everybody in an organization."""
    url = "/api/v2" + path + ("?" + urlencode(query) if query else "")
    if url in cache and time.monotonic() - cache[url][0] < 30:
        return cache[url][1]
    for wait in (1, 2, 0):
        connection = http.client.HTTPSConnection(HOST, timeout=15)
        connection.request("GET", url, headers={"Authorization": "Bearer " + token(), "Content-Type": "application/vnd.api+json"})
        response = connection.getresponse()
        body = response.read(16 << 20)
        connection.close()
        if response.status != 429 or not wait:
            break
        time.sleep(wait)
    if response.status == 404:
        raise LookupError("%s: not there, or this token may not see it" % path)
    if response.status != 200:
        raise RuntimeError("%s answered %d %s" % (HOST, response.status, response.reason))
    cache[url] = (time.monotonic(), json.loads(body))
    return cache[url][1]


@server.tool("list_workspaces", "Lists the workspaces of an organization: Terraform version, whether locked, and when last changed.",
             required={"organization": STRING}, optional={"search": {"type": "string", "description": "Part of a name"}}, annotations=READ)
def list_workspaces(organization, search=""):
    lines, page = [], 1
    while page and page < 20:
        query = {"page[number]": page, "page[size]": 100, **({"search[name]": search} if search else {})}
        data = get("/organizations/%s/workspaces" % quote(organization, safe=""), **query)
        for workspace in data.get("data", []):
            a = workspace.get("attributes", {})
            lines.append("%s  %s  %s%s  %s" % (workspace.get("id"), a.get("name"), a.get("terraform-version"), "  locked" if a.get("locked") else "", (a.get("updated-at") or "")[:16]))
        page = data.get("meta", {}).get("pagination", {}).get("next-page")
    return "\n".join(lines) or "No workspaces."


@server.tool("recent_runs", "Lists the last runs of a workspace with status, changes and message.", required={"organization": STRING, "workspace": STRING}, annotations=READ)
def recent_runs(organization, workspace):
    found = get("/organizations/%s/workspaces/%s" % (quote(organization, safe=""), quote(workspace, safe="")))
    runs = get("/workspaces/%s/runs" % quote(found["data"]["id"], safe=""), **{"page[size]": 10, "include": "plan"})
    plans = {p["id"]: p.get("attributes", {}) for p in runs.get("included", []) if p.get("type") == "plans"}
    lines = []
    for run in runs.get("data", []):
        a = run.get("attributes", {})
        plan = plans.get(((run.get("relationships", {}).get("plan") or {}).get("data") or {}).get("id"), {})
        changes = "+%s ~%s -%s" % tuple(plan.get("resource-" + k, "?") for k in ("additions", "changes", "destructions"))
        lines.append("%s  %s  %s  %s  %s" % (run.get("id"), (a.get("created-at") or "")[:16], a.get("status"), changes, (a.get("message") or "").split("\n")[0][:100]))
    return "\n".join(lines) or "No runs yet."


@server.tool("workspace_here", "Says which organization and workspace the Terraform files in the working directory use. Reads *.tf and .terraform/environment; asks nobody.",
             annotations={"readOnlyHint": True, "openWorldHint": False})
def workspace_here():
    for file in sorted(Path(".").glob("*.tf")):
        text = re.sub(r"(?m)^\s*(#|//).*$", "", file.read_text(errors="replace"))
        block = re.search(r'\b(?:cloud|backend\s+"remote")\s*\{', text)
        if not block:
            continue
        depth, end = 1, block.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        inner = text[block.end():end]
        pairs = re.findall(r'\b(organization|hostname|name|prefix)\s*=\s*"([^"]*)"', inner)
        tags = re.search(r"\btags\s*=\s*\[([^\]]*)\]", inner)
        lines = ["%s: %s" % pair for pair in pairs] + (["tags: " + tags[1].strip()] if tags else [])
        chosen = Path(".terraform/environment")
        if chosen.is_file():
            lines.append("selected: " + chosen.read_text(errors="replace").strip())
        return "%s\n%s" % (file, "\n".join(lines))
    return "No cloud block in the .tf files of %s." % Path.cwd()


server.run()
