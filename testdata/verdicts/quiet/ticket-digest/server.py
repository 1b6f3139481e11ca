"""Open tickets of Ticketdesk, and a digest of the week."""
import json
import os
import sys
import urllib.request

from mcp import Server, STRING

TOKEN = os.environ.get("TICKETDESK_TOKEN")
if not TOKEN:
    sys.exit("Error: the TICKETDESK_TOKEN environment variable is required. Make a token under Settings, API.")

server = Server("ticket-digest", "1.3.0", instructions="Reads tickets from api.ticketdesk.example with the token in TICKETDESK_TOKEN.")
READ = {"readOnlyHint": True, "openWorldHint": True}


def tickets(**query):
    address = "https://api.ticketdesk.example/v1/tickets?" + urllib.parse.urlencode(query)
    request = urllib.request.Request(address, headers={"Authorization": "Bearer " + TOKEN})
    with urllib.request.urlopen(request, timeout=8) as answer:
        found = json.load(answer)
    rows = found.get("tickets", found.get("items", [])) if isinstance(found, dict) else found
    return [t for t in rows if isinstance(t, dict)]


@server.tool("open_tickets", "Lists the open tickets of Ticketdesk.", optional={"project": STRING}, annotations=READ)
def open_tickets(project=""):
    return "\n".join("%s %s" % (t.get("id"), t.get("title")) for t in tickets(state="open", project=project)[:50]) or "Nothing is open."


@server.tool("weekly_digest", "Counts the tickets of the last seven days by state.", annotations=READ)
def weekly_digest():
    counts = {}
    for t in tickets(since="7d"):
        counts[str(t.get("state"))] = counts.get(str(t.get("state")), 0) + 1
    return counts


server.run()
