"""jira-board: issues of a Jira Cloud site.

Environment: JIRA_SITE (https://NAME.atlassian.net), JIRA_EMAIL, JIRA_API_TOKEN; JIRA_READ_ONLY=1 leaves out the tools that write."""
import base64
import json
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request

from mcp import STRING, Server

SITE = os.environ.get("JIRA_SITE", "").rstrip("/")
READ_ONLY = os.environ.get("JIRA_READ_ONLY") == "1"
KEY = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]+-[0-9]+$", "examples": ["WEB-17"]}

server = Server("jira-board", "2.2.0", "Issues of %s, in the name of the account in JIRA_EMAIL. Comments and work logs are visible to everyone who sees the issue." % (SITE or "a Jira site (JIRA_SITE is not set)"))


class JiraError(Exception):
    pass


def api(path, body=None, **query):
    if not re.fullmatch(r"https://[a-z0-9-]+\.atlassian\.net", SITE):
        raise JiraError("JIRA_SITE has to look like https://NAME.atlassian.net")
    account = "%s:%s" % (os.environ.get("JIRA_EMAIL", ""), os.environ.get("JIRA_API_TOKEN", ""))
    url = "%s/rest/api/3/%s%s" % (SITE, path, "?" + urllib.parse.urlencode(query) if query else "")
    request = urllib.request.Request(url, None if body is None else json.dumps(body).encode(), {
        "Authorization": "Basic " + base64.b64encode(account.encode()).decode(), "Accept": "application/json", "Content-Type": "application/json"})
    for attempt in (1, 2):
        try:
            with urllib.request.urlopen(request, timeout=8) as answer:
                return json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as e:
            if e.code == 429 and attempt == 1:
                wait = e.headers.get("Retry-After", "1")
                time.sleep(min(int(wait) if wait.isdigit() else 1, 5))
                continue
            try:
                reasons = json.loads(e.read()).get("errorMessages") or []
            except (ValueError, AttributeError):
                reasons = []
            raise JiraError("Jira answered %d: %s" % (e.code, "; ".join(map(str, reasons)) or e.reason)) from None
        except (OSError, ValueError) as e:
            raise JiraError("Jira cannot be reached: %s" % e) from None


def issue_path(key, rest=""):
    if not re.fullmatch(r"[A-Z][A-Z0-9_]{1,30}-[0-9]{1,9}", key):
        raise JiraError("an issue has a key like WEB-17")
    return "issue/" + key + rest


def plain(node):
    """The text of a document in the Atlassian Document Format."""
    if not isinstance(node, dict):
        return ""
    inner = "".join(plain(n) for n in node.get("content") or [])
    if node.get("type") == "text":
        return str(node.get("text", ""))
    if node.get("type") == "hardBreak":
        return "\n"
    return inner + ("\n" if node.get("type") in ("paragraph", "heading", "codeBlock", "listItem") else "")


def document(text):
    return {"type": "doc", "version": 1, "content": [{"type": "paragraph", "content": [{"type": "text", "text": part}]} for part in text.split("\n") if part.strip()]}


def name(value, key="displayName"):
    return value.get(key, "-") if isinstance(value, dict) else "-"


@server.tool("search_issues", "Finds issues with JQL, newest first. Without a query: the open ones that are assigned to you.",
             optional={"jql": {"type": "string", "examples": ["project = WEB AND status = 'In Progress'"]}, "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}},
             annotations={"readOnlyHint": True, "openWorldHint": True})
def search_issues(jql="assignee = currentUser() AND statusCategory != Done ORDER BY updated DESC", limit=20):
    found = api("search/jql", {"jql": jql, "maxResults": max(1, min(limit, 50)), "fields": ["summary", "status", "assignee", "priority"]})
    lines = []
    for issue in found.get("issues") or []:
        f = issue.get("fields") or {}
        lines.append("%s [%s] %s (%s)" % (issue.get("key"), name(f.get("status"), "name"), f.get("summary"), name(f.get("assignee"))))
    return "\n".join(lines) or "No issues."


@server.tool("show_issue", "Shows an issue with its description and last comments.", {"key": KEY}, annotations={"readOnlyHint": True, "openWorldHint": True})
def show_issue(key):
    fields = api(issue_path(key), fields="summary,status,assignee,description,comment,timespent").get("fields") or {}
    comments = (fields.get("comment") or {}).get("comments") or []
    return "\n".join(["%s: %s" % (key, fields.get("summary")), "status %s, assignee %s, %d minutes logged" % (name(fields.get("status"), "name"), name(fields.get("assignee")), (fields.get("timespent") or 0) // 60), "",
                      plain(fields.get("description")).strip()] + ["\n-- %s, %s\n%s" % (name(c.get("author")), str(c.get("created"))[:16], plain(c.get("body")).strip()) for c in comments[-5:]])


if not READ_ONLY:
    @server.tool("add_comment", "Adds a comment to an issue, in your name.", {"key": KEY, "text": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True})
    def add_comment(key, text):
        if not text.strip():
            raise JiraError("the comment is empty")
        return "Comment %s was added." % api(issue_path(key, "/comment"), {"body": document(text)}).get("id")

    @server.tool("log_work", "Logs time that you worked on an issue.", {"key": KEY, "minutes": {"type": "integer", "minimum": 1, "maximum": 1440}}, {"note": STRING},
                 annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True})
    def log_work(key, minutes, note=""):
        if not 1 <= minutes <= 1440:
            raise JiraError("minutes is a number from 1 to 1440")
        entry = {"timeSpentSeconds": minutes * 60, **({"comment": document(note)} if note.strip() else {})}
        return "Work log %s was added." % api(issue_path(key, "/worklog"), entry).get("id")


server.run()
