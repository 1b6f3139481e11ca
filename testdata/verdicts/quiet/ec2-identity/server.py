#!/usr/bin/env python3
"""Which EC2 instance is this? Asks the instance metadata service, version 2."""
import http.client
import json
import sys

METADATA = "169.254.169.254"
FACTS = {"region": "placement/region", "zone": "placement/availability-zone", "type": "instance-type", "id": "instance-id", "image": "ami-id"}
READ = {"readOnlyHint": True}
TOOLS = [
    {"name": "instance_facts", "title": "Instance facts", "annotations": READ,
     "description": "Says region, zone, type, id and image of the EC2 instance on which this server runs, by the AWS instance metadata service (IMDSv2).",
     "inputSchema": {"type": "object", "properties": {}}},
    {"name": "instance_tag", "title": "Instance tag", "annotations": READ,
     "description": "Says the value of a tag of this EC2 instance, if its metadata options allow tags.",
     "inputSchema": {"type": "object", "properties": {"tag": {"type": "string", "pattern": "^[A-Za-z0-9_.-]{1,128}$", "default": "Name"}}, "required": ["tag"]}},
]


def ask(method, path, headers):
    connection = http.client.HTTPConnection(METADATA, timeout=2)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        body = response.read(4096).decode("utf-8", "replace").strip()
        return body if response.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def metadata(*paths):
    session = ask("PUT", "/latest/api/token", {"X-aws-ec2-metadata-token-ttl-seconds": "60"})
    headers = {"X-aws-ec2-metadata-token": session} if session and session.isascii() and "\n" not in session else {}
    return [ask("GET", "/latest/meta-data/" + path, headers) for path in paths]


def call(name, arguments):
    if name == "instance_facts":
        found = dict(zip(FACTS, metadata(*FACTS.values())))
        lines = ["%s: %s" % (fact, value[:100]) for fact, value in found.items() if value]
        return "\n".join(lines) or "This is no EC2 instance, or its metadata service is off."
    tag = arguments.get("tag")
    if not isinstance(tag, str) or not tag or not all(c.isalnum() and c.isascii() or c in "_.-" for c in tag):
        raise ValueError("tag: letters, digits and _.- only")
    value = metadata("tags/instance/" + tag)[0]
    return value[:256] if value else "no such tag"


def result(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": "ec2-identity", "version": "1.0.0"}}
    if method == "tools/list":
        return {"tools": TOOLS}
    if method == "ping":
        return {}
    if method == "tools/call" and params.get("name") in [t["name"] for t in TOOLS]:
        try:
            return {"content": [{"type": "text", "text": call(params["name"], params.get("arguments") or {})}]}
        except ValueError as error:
            return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    raise LookupError(method)


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = result(message["method"], message.get("params") or {})
    except LookupError as error:
        reply["error"] = {"code": -32601, "message": "not found: %s" % error}
    print(json.dumps(reply), flush=True)
