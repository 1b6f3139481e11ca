#!/usr/bin/env python3
"""todoist-list: the tasks of one Todoist account.

Set TODOIST_API_TOKEN (Settings > Integrations > Developer). TODOIST_TIMEOUT is in seconds, 10 unless told."""
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from mcp import STRING, Server

API = "https://api.todoist.com/api/v1"
TOKEN = os.environ.get("TODOIST_API_TOKEN", "")
try:
    TIMEOUT = min(max(float(os.environ.get("TODOIST_TIMEOUT", "10")), 1), 60)
except ValueError:
    TIMEOUT = 10
TASK_ID = re.compile(r"[0-9A-Za-z]{6,32}")

server = Server("todoist-list", version="0.6.2", instructions="Works on the Todoist account of TODOIST_API_TOKEN, through api.todoist.com.")


def ask(method, path, query=None, body=None):
    if not TOKEN:
        raise RuntimeError("TODOIST_API_TOKEN is not set")
    url = API + path + ("?" + urllib.parse.urlencode(query) if query else "")
    request = urllib.request.Request(url, method=method, data=None if body is None else json.dumps(body).encode())
    request.add_unredirected_header("Authorization", "Bearer " + TOKEN)
    request.add_header("Accept", "application/json")
    if method == "POST":
        request.add_header("Content-Type", "application/json")
        request.add_header("X-Request-Id", str(uuid.uuid4()))  # a repeated request is not carried out twice
    for attempt in (1, 2):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                raw = answer.read(4_000_000)
                break
        except urllib.error.HTTPError as error:
            if error.code in (429, 502, 503) and attempt == 1:
                time.sleep(1)
                continue
            meaning = {401: "the token is not accepted", 403: "the token may not do that", 404: "there is no such task"}
            raise RuntimeError("Todoist answered %d: %s" % (error.code, meaning.get(error.code, error.reason))) from None
        except urllib.error.URLError as error:
            raise RuntimeError("Todoist is not reachable: %s" % error.reason) from None
    if not raw:
        return None
    try:
        return json.loads(raw)
    except ValueError:
        raise RuntimeError("Todoist's answer is no JSON") from None


def text(value, name, longest):
    value = value.strip()
    if not value:
        raise ValueError("%s is empty" % name)
    if len(value) > longest:
        raise ValueError("%s is longer than %d characters" % (name, longest))
    return value


def line(task):
    due = task.get("due") or {}
    return "%s  p%d  %s%s" % (task.get("id"), 5 - int(task.get("priority") or 1), task.get("content"), "  (due %s)" % due["date"] if due.get("date") else "")


@server.tool("find_tasks", "Lists open tasks of the Todoist account that a Todoist filter matches, for example 'today | overdue', '#Work & p1' or 'no date'.",
             required={"filter": {"type": "string", "maxLength": 500, "examples": ["today | overdue"]}}, annotations={"readOnlyHint": True, "openWorldHint": True})
def find_tasks(filter):
    answer = ask("GET", "/tasks/filter", {"query": text(filter, "filter", 500), "limit": 100})
    tasks = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(tasks, list):
        raise RuntimeError("Todoist's answer has no list of tasks")
    return "\n".join(line(t) for t in tasks if isinstance(t, dict)) or "No open task matches."


@server.tool("add_task", "Adds a task to the Todoist account. The due date is in Todoist's words, such as 'tomorrow at 9' or 'every monday'.",
             required={"content": {"type": "string", "maxLength": 500}},
             optional={"due": {"type": "string", "maxLength": 150}, "priority": {"type": "integer", "minimum": 1, "maximum": 4, "description": "1 is the most urgent"}, "note": STRING},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True})
def add_task(content, due=None, priority=4, note=None):
    if isinstance(priority, bool) or not 1 <= priority <= 4:
        raise ValueError("priority is 1 to 4")
    body = {"content": text(content, "content", 500), "priority": 5 - priority}
    if due:
        body["due_string"] = text(due, "due", 150)
    if note:
        body["description"] = text(note, "note", 16000)
    task = ask("POST", "/tasks", body=body)
    return "Added: " + line(task) if isinstance(task, dict) and task.get("id") else "Added."


@server.tool("complete_task", "Marks a task of the Todoist account as done. A repeating task moves to its next date.",
             required={"id": {"type": "string", "pattern": "^[0-9A-Za-z]{6,32}$", "description": "from find_tasks"}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True})
def complete_task(id):
    if not TASK_ID.fullmatch(id):
        raise ValueError("id is 6 to 32 letters and digits, as find_tasks shows it")
    ask("POST", "/tasks/%s/close" % id)
    return "Done: %s" % id


server.run()
