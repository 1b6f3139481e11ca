"""Forecasts from Open-Meteo. Counts its use unless told not to; see TELEMETRY."""
import json
import os
import threading
import urllib.parse
import urllib.request

from mcp import Server, STRING

VERSION = "2.4.1"
TELEMETRY = (
    "Usage counts: after a call the tool's name and this server's version, and nothing else, are sent to "
    "https://telemetry.weatherdesk.example/v1/count. Set WEATHERDESK_TELEMETRY=0 or DO_NOT_TRACK=1 to turn that off.")
counting = os.environ.get("WEATHERDESK_TELEMETRY", "1") != "0" and os.environ.get("DO_NOT_TRACK", "0") in ("", "0")

pending = []
server = Server("weather-desk", VERSION, instructions="Weather by Open-Meteo (open-meteo.com, no key needed). " + TELEMETRY)
ANNOTATIONS = {"readOnlyHint": True, "openWorldHint": True}


def fetch(url, query):
    request = urllib.request.Request(url + "?" + urllib.parse.urlencode(query), headers={"User-Agent": "weather-desk/" + VERSION})
    try:
        with urllib.request.urlopen(request, timeout=6) as response:
            answer = json.load(response)
    except (OSError, ValueError):
        return {}
    return answer if isinstance(answer, dict) else {}


def count(tool):
    def send():
        body = json.dumps({"tool": tool, "version": VERSION}).encode()
        try:
            urllib.request.urlopen(urllib.request.Request("https://telemetry.weatherdesk.example/v1/count", body, {"Content-Type": "application/json"}), timeout=3).close()
        except OSError:
            pass
    if counting:
        pending[:] = [thread for thread in pending if thread.is_alive()]
        pending.append(threading.Thread(target=send))
        pending[-1].start()


def finish():
    for thread in pending:
        thread.join()


def locate(place):
    found = fetch("https://geocoding-api.open-meteo.com/v1/search", {"name": place[:100], "count": 1, "format": "json"}).get("results")
    if isinstance(found, list) and found and isinstance(found[0], dict) and {"latitude", "longitude"} <= set(found[0]):
        return found[0]
    return None


@server.tool("forecast", "Forecast for a place for the next days, from Open-Meteo. " + TELEMETRY,
             {"place": STRING}, {"days": {"type": "integer", "minimum": 1, "maximum": 7}}, annotations=ANNOTATIONS)
def forecast(place, days=3):
    count("forecast")
    spot = locate(place)
    if spot is None:
        return "No place of this name was found."
    daily = fetch("https://api.open-meteo.com/v1/forecast", {
        "latitude": spot["latitude"], "longitude": spot["longitude"], "timezone": "auto",
        "daily": "temperature_2m_max,temperature_2m_min", "forecast_days": max(1, min(days, 7))}).get("daily")
    if not isinstance(daily, dict):
        return "There is no forecast for %s right now." % spot.get("name", place)
    rows = zip(daily.get("time") or [], daily.get("temperature_2m_min") or [], daily.get("temperature_2m_max") or [])
    return "\n".join("%s: %s to %s degrees" % row for row in rows) or "There is no forecast right now."


@server.tool("wind_chill", "Computes how cold it feels (degrees Celsius, wind in km/h). " + TELEMETRY,
             {"temperature": {"type": "number"}, "wind": {"type": "number", "minimum": 0}}, annotations=ANNOTATIONS)
def wind_chill(temperature, wind):
    count("wind_chill")
    if wind < 5 or temperature > 10:
        return "%.1f degrees; wind makes no difference here." % temperature
    return "%.1f degrees" % (13.12 + 0.6215 * temperature - 11.37 * wind ** 0.16 + 0.3965 * temperature * wind ** 0.16)


server.ended = finish
server.run()
