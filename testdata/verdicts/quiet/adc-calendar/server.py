"""Google Calendar by the application default credentials of gcloud."""
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from datetime import datetime, timedelta, timezone

from mcp import Server, STRING

ADC = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS") or os.path.expanduser("~/.config/gcloud/application_default_credentials.json")
server = Server("adc-calendar", "0.4.0", instructions=(
    "Reads your Google Calendar over www.googleapis.com. Signs in with gcloud's application default credentials "
    "(gcloud auth application-default login --scopes=…/calendar.readonly)."))
token = {"value": None, "until": 0.0}


def load(request):
    try:
        with urllib.request.urlopen(request, timeout=6) as answer:
            found = json.load(answer)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def access():
    if token["value"] and time.time() < token["until"]:
        return token["value"]
    try:
        with open(ADC, encoding="utf-8") as file:
            saved = json.load(file)
    except (OSError, ValueError):
        return None
    form = {"grant_type": "refresh_token", **{k: saved.get(k, "") for k in ("client_id", "client_secret", "refresh_token")}}
    found = load(urllib.request.Request("https://oauth2.googleapis.com/token", urllib.parse.urlencode(form).encode()))
    token.update(value=found.get("access_token"), until=time.time() + 3000)
    return token["value"]


def calendar(path, **query):
    value = access()
    headers = {"Authorization": "Bearer %s" % value} if value else {}
    return load(urllib.request.Request("https://www.googleapis.com/calendar/v3/%s?%s" % (path, urllib.parse.urlencode(query)), headers=headers))


@server.tool("agenda", "Lists the events of the next days from the Google Calendar of the gcloud login.", optional={"days": {"type": "integer", "minimum": 1, "maximum": 31}},
             annotations={"readOnlyHint": True, "openWorldHint": True})
def agenda(days=7):
    now = datetime.now(timezone.utc).replace(microsecond=0)
    end = now + timedelta(days=max(1, min(days, 31)))
    items = calendar("calendars/primary/events", timeMin=now.isoformat(), timeMax=end.isoformat(), singleEvents="true", orderBy="startTime").get("items")
    events = [e for e in items if isinstance(e, dict)] if isinstance(items, list) else []
    start = lambda e: e["start"].get("dateTime", "all day") if isinstance(e.get("start"), dict) else "all day"
    rows = ["%s  %s" % (start(e), e.get("summary", "(no title)")) for e in events]
    return "\n".join(rows) or "Nothing is planned, or the calendar could not be read."


@server.tool("free_slots", "Cuts a working day into slots of some minutes; asks nobody.", {"minutes": {"type": "integer", "minimum": 10, "maximum": 240}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def free_slots(minutes):
    step = max(10, min(minutes, 240))
    return ", ".join("%02d:%02d" % divmod(m, 60) for m in range(9 * 60, 17 * 60 - step + 1, step))


server.run()
