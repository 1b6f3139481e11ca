"""Heroku apps and dynos, with the login that `heroku login` leaves in ~/.netrc."""
import base64
import http.client
import json
import netrc
import os

from mcp import Server, STRING

HOST = "api.heroku.com"
server = Server("heroku-apps", "2.0.1", instructions=(
    "Talks to https://api.heroku.com with the login for that host in ~/.netrc, where the Heroku CLI keeps it. "
    "If there is no ~/.netrc, that is quietly passed over and the answers are empty."))
ANNOTATIONS = {"readOnlyHint": True, "openWorldHint": True}


def login():
    try:
        return netrc.netrc(os.path.expanduser("~/.netrc")).authenticators(HOST)
    except (OSError, netrc.NetrcParseError):
        return None


def ask(path):
    headers = {"Accept": "application/vnd.heroku+json; version=3", "User-Agent": "heroku-apps-mcp/2.0.1"}
    found = login()
    if found:
        user, _, password = found
        headers["Authorization"] = "Basic " + base64.b64encode(("%s:%s" % (user, password)).encode()).decode()
    connection = http.client.HTTPSConnection(HOST, timeout=6)
    try:
        connection.request("GET", path, headers=headers)
        answer = json.loads(connection.getresponse().read(500_000))
    except (OSError, ValueError, http.client.HTTPException):
        return []
    finally:
        connection.close()
    return answer if isinstance(answer, list) else []


def names(rows, *members):
    lines = ["  ".join(str(row.get(m, "")) for m in members) for row in rows if isinstance(row, dict)]
    return "\n".join(lines) or "none"


@server.tool("list_apps", "Lists your Heroku apps.", annotations=ANNOTATIONS)
def list_apps():
    return names(ask("/apps"), "name", "stack", "web_url")


@server.tool("list_dynos", "Lists the dynos of one of your Heroku apps.", {"app": {**STRING, "pattern": "^[a-z][a-z0-9-]{1,29}$"}}, annotations=ANNOTATIONS)
def list_dynos(app):
    if not app.replace("-", "").isalnum() or not app.isascii():
        return "An app's name has letters, digits and hyphens only."
    return names(ask("/apps/%s/dynos" % app[:30]), "name", "state", "size")


server.run()
