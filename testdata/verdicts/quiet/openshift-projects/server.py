#!/usr/bin/env python3
"""openshift-projects -- projects, routes and pods of an OpenShift cluster, over its API.

OPENSHIFT_SERVER  address of the API, e.g. https://api.ocp.example:6443
OPENSHIFT_TOKEN   what `oc whoami -t` prints; sent as a bearer token to that address only
OPENSHIFT_CA      a file with the authority of the cluster, if it is not a public one
"""
import json
import os
import re
import ssl
import sys
import urllib.error
import urllib.request


class Cluster:
    def __init__(self, env):
        self.server = env.get("OPENSHIFT_SERVER", "").rstrip("/")
        self.token = env.get("OPENSHIFT_TOKEN", "")
        self.context = ssl.create_default_context(cafile=env.get("OPENSHIFT_CA") or None)

    def items(self, path):
        if not self.server.startswith("https://") or not self.token:
            raise LookupError("set OPENSHIFT_SERVER and OPENSHIFT_TOKEN")
        request = urllib.request.Request(self.server + path, headers={"Authorization": "Bearer " + self.token, "Accept": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=8, context=self.context) as response:
                body = json.loads(response.read(8 << 20))
        except urllib.error.HTTPError as error:
            raise LookupError({401: "the token has expired; log in again", 403: "you may not see this"}.get(error.code, "the cluster answered %d" % error.code))
        except (OSError, ValueError):
            raise LookupError("the cluster cannot be reached, or this is no OpenShift API")
        found = body.get("items") if isinstance(body, dict) else None
        return [i for i in found or [] if isinstance(i, dict) and isinstance(i.get("metadata"), dict)]


cluster = Cluster(os.environ)
NAMESPACE = {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", "description": "project, e.g. billing-dev"}


def namespace(args):
    name = str(args.get("project", ""))
    if not re.fullmatch(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", name):
        raise LookupError("a project's name has small letters, digits and dashes")
    return name


def list_projects(args):
    return [i["metadata"].get("name", "?") for i in cluster.items("/apis/project.openshift.io/v1/projects?limit=200")]


def list_routes(args):
    return ["%s -> https://%s" % (i["metadata"].get("name"), (i.get("spec") or {}).get("host"))
            for i in cluster.items("/apis/route.openshift.io/v1/namespaces/%s/routes" % namespace(args))]


def list_pods(args):
    return ["%s %s" % (i["metadata"].get("name"), (i.get("status") or {}).get("phase")) for i in cluster.items("/api/v1/namespaces/%s/pods" % namespace(args))]


TOOLS = [
    ("list_projects", "Lists the OpenShift projects that your token may see.", {}, list_projects),
    ("list_routes", "Lists the routes of an OpenShift project with their public addresses.", {"project": NAMESPACE}, list_routes),
    ("list_pods", "Lists the pods of an OpenShift project and how they are.", {"project": NAMESPACE}, list_pods),
]


def dispatch(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-03-26"), "capabilities": {"tools": {}}, "serverInfo": {"name": "openshift-projects", "version": "4.2"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": list(p), "additionalProperties": False},
                           "annotations": {"title": n.replace("_", " ").capitalize(), "readOnlyHint": True, "openWorldHint": True}} for n, d, p, _ in TOOLS]}
    if method == "tools/call":
        for name, _, _, function in TOOLS:
            if name == params.get("name"):
                try:
                    text = "\n".join(map(str, function(params.get("arguments") or {}))) or "Nothing here."
                except LookupError as problem:
                    text = "Cannot list: %s." % problem
                return {"content": [{"type": "text", "text": text}]}
        raise KeyError(params.get("name"))
    raise KeyError(method)


for raw in sys.stdin.buffer:
    try:
        message = json.loads(raw)
    except ValueError:
        continue
    if not isinstance(message, dict) or "id" not in message:
        continue
    out = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        out["result"] = dispatch(message.get("method"), message.get("params") or {})
    except KeyError as unknown:
        out["error"] = {"code": -32601, "message": "unknown %s" % unknown}
    sys.stdout.write(json.dumps(out) + "\n")
    sys.stdout.flush()
