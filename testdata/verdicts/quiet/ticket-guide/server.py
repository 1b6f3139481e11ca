#!/usr/bin/env python3
"""Tickets of a small support team, kept in memory, with the rules of the house for the assistant."""
import itertools
import json
import string
import sys

RULES = """\
Call list_projects first: the other tools want the id of a project, not its name.
Do not show ids to the user; use names and titles instead.
Before you close a ticket, always ask the user to confirm.
If a tool says that there is nothing, say so and do not make tickets up.
You must answer customers in their own language."""

TEMPLATE = string.Template("Dear $customer,\n\nthank you for your message about \u201c$title\u201d. $answer\n\nKind regards,\nthe support team")

projects = {"p-7f3a": "Web shop", "p-91c0": "Mobile app"}
numbers = itertools.count(103)
tickets = {
    "t-101": {"project": "p-7f3a", "title": "Cannot pay by card", "state": "open", "customer": "Ms Okafor"},
    "t-102": {"project": "p-91c0", "title": "App forgets my password", "state": "open", "customer": "M. Lefèvre"},
}


def list_projects():
    return "\n".join("%s = %s" % item for item in projects.items())


def list_tickets(project_id):
    if project_id not in projects:
        return "There is no project with this id. Call list_projects to get the ids."
    return "\n".join("%s [%s] %s (%s)" % (i, t["state"], t["title"], t["customer"]) for i, t in tickets.items() if t["project"] == project_id) or "No tickets."


def open_ticket(project_id, title, customer="a customer"):
    if project_id not in projects:
        return "There is no project with this id. Call list_projects to get the ids."
    if len(tickets) >= 500:
        return "The team has enough to do; no more tickets today."
    ticket_id = "t-%d" % next(numbers)
    tickets[ticket_id] = {"project": project_id, "title": title[:200], "state": "open", "customer": customer[:100]}
    return "Opened %s." % ticket_id


def draft_reply(ticket_id, answer):
    ticket = tickets.get(ticket_id)
    return TEMPLATE.safe_substitute(customer=ticket["customer"], title=ticket["title"], answer=answer) if ticket else "There is no such ticket."


def close_ticket(ticket_id):
    if ticket_id not in tickets:
        return "There is no such ticket."
    tickets[ticket_id]["state"] = "closed"
    return "Closed."


TOOLS = [
    (list_projects, "Lists projects with their ids. Call this first; the ids are for the other tools and not for the user.", {"readOnlyHint": True}),
    (list_tickets, "Lists the tickets of a project. Needs the id from list_projects.", {"readOnlyHint": True}),
    (open_ticket, "Opens a ticket in a project. Kept in memory for this session.", {"destructiveHint": False}),
    (draft_reply, "Drafts a reply to the customer of a ticket from the template of the house. Nothing is sent.", {"readOnlyHint": True}),
    (close_ticket, "Closes a ticket. Ask the user before you use this.", {"destructiveHint": True, "idempotentHint": True}),
]


def declare(function, description, hints):
    names = function.__code__.co_varnames[:function.__code__.co_argcount]
    optional = len(function.__defaults__ or ())
    return {"name": function.__name__, "description": description, "annotations": {**hints, "openWorldHint": False},
            "inputSchema": {"type": "object", "properties": {n: {"type": "string"} for n in names}, "required": list(names[:len(names) - optional])}}


def text(t):
    return {"content": [{"type": "text", "text": t}]}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "serverInfo": {"name": "ticket-guide", "version": "5.0.1"},
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}}, "instructions": RULES}
    if method == "tools/list":
        return {"tools": [declare(*t) for t in TOOLS]}
    if method == "tools/call":
        function = next((t[0] for t in TOOLS if t[0].__name__ == params.get("name")), None)
        if function is None:
            raise LookupError("unknown tool")
        try:
            return text(function(**{k: str(v) for k, v in (params.get("arguments") or {}).items()}))
        except TypeError:
            return {**text("Arguments are missing, or there are too many."), "isError": True}
    if method == "resources/list":
        return {"resources": [{"uri": "guide://rules", "name": "Rules of the house", "mimeType": "text/plain"}, {"uri": "guide://reply-template", "name": "Template for replies", "mimeType": "text/plain"}]}
    if method == "resources/read":
        contents = {"guide://rules": RULES, "guide://reply-template": TEMPLATE.template}[params.get("uri")]
        return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": contents}]}
    if method == "prompts/list":
        return {"prompts": [{"name": "triage", "description": "Sort the open tickets by how urgent they are", "arguments": [{"name": "project", "description": "name of the project"}]}]}
    if method == "prompts/get" and params.get("name") == "triage":
        project = str((params.get("arguments") or {}).get("project", "each project"))
        return {"messages": [{"role": "user", "content": {"type": "text", "text": "Use list_projects, then list_tickets for %s. Sort the open tickets by urgency. Tell me titles and customers, no ids." % project}}]}
    if method == "ping":
        return {}
    raise LookupError("method not found")


for line in sys.stdin:
    try:
        m = json.loads(line)
    except json.JSONDecodeError:
        continue
    if not isinstance(m, dict) or m.get("id") is None:
        continue
    try:
        out = {"result": handle(m.get("method"), m.get("params") or {})}
    except LookupError as error:
        out = {"error": {"code": -32601, "message": str(error)}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **out}), flush=True)
