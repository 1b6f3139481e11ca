#!/usr/bin/env python3
"""hue-rooms: the rooms and scenes of a Philips Hue bridge.

HUE_BRIDGE is the bridge's name or address, HUE_USER the user name that it gave. pair makes one: press the bridge's button first;
the name is then kept in ~/.config/hue-rooms/user, readable by its owner alone."""
import http.client
import json
import os
import re
from pathlib import Path

from mcp import Server

BRIDGE = os.environ.get("HUE_BRIDGE", "philips-hue.local")
KEPT = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "hue-rooms" / "user"

server = Server("hue-rooms", version="1.3.0", instructions="Talks to the Hue bridge at %s in the local network, and to nothing else." % BRIDGE)


def bridge(method, path, body=None):
    connection = http.client.HTTPConnection(BRIDGE, timeout=5)
    try:
        connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        raw = answer.read(2_000_000)
    except (OSError, http.client.HTTPException) as error:
        raise RuntimeError("the bridge at %s does not answer: %s" % (BRIDGE, error)) from None
    finally:
        connection.close()
    try:
        data = json.loads(raw)
    except ValueError:
        raise RuntimeError("%s answered %d and no JSON; is it a Hue bridge?" % (BRIDGE, answer.status)) from None
    for entry in data if isinstance(data, list) else []:
        if isinstance(entry, dict) and isinstance(entry.get("error"), dict):
            raise RuntimeError("the bridge says: %s" % entry["error"].get("description"))
    return data


def user():
    name = os.environ.get("HUE_USER", "")
    if not name and KEPT.is_file():
        name = KEPT.read_text().strip()
    if not re.fullmatch(r"[0-9A-Za-z-]{10,80}", name):
        raise RuntimeError("no user name for the bridge: set HUE_USER or call pair")
    return name


def groups():
    data = bridge("GET", "/api/%s/groups" % user())
    if not isinstance(data, dict):
        raise RuntimeError("the bridge's answer has no rooms")
    return {g["name"]: (number, g) for number, g in data.items() if number.isdigit() and isinstance(g, dict) and isinstance(g.get("name"), str) and g.get("type") in ("Room", "Zone")}


def group(name):
    known = groups()
    found = [n for n in known if n.casefold() == name.strip().casefold()]
    if not found:
        raise ValueError("there is no such room; rooms are " + ", ".join(sorted(known)))
    return known[found[0]]


ROOM = {"type": "string", "description": "a room or zone, as list_rooms names it", "examples": ["Kitchen"]}


@server.tool("list_rooms", "Lists the rooms and zones of the Hue bridge, and whether their lamps are on.", annotations={"readOnlyHint": True})
def list_rooms():
    return "\n".join("%s: %s, %d lamps" % (n, "on" if (g.get("state") or {}).get("any_on") else "off", len(g.get("lights") or [])) for n, (_, g) in sorted(groups().items())) or "The bridge has no rooms."


@server.tool("set_room", "Switches the lamps of a room on or off, and sets brightness and colour temperature.",
             required={"room": ROOM, "on": {"type": "boolean"}},
             optional={"brightness": {"type": "integer", "minimum": 1, "maximum": 100, "description": "percent"}, "kelvin": {"type": "integer", "minimum": 2000, "maximum": 6500}},
             annotations={"readOnlyHint": False, "idempotentHint": True})
def set_room(room, on, brightness=None, kelvin=None):
    state = {"on": on}
    for name, value, low, high in (("brightness", brightness, 1, 100), ("kelvin", kelvin, 2000, 6500)):
        if value is not None and (isinstance(value, bool) or not low <= value <= high):
            raise ValueError("%s is a whole number from %d to %d" % (name, low, high))
    if on and brightness is not None:
        state["bri"] = max(1, round(brightness * 254 / 100))
    if on and kelvin is not None:
        state["ct"] = round(1_000_000 / kelvin)
    number, entry = group(room)
    bridge("PUT", "/api/%s/groups/%s/action" % (user(), number), state)
    return "%s is %s." % (entry["name"], "on" if on else "off")


@server.tool("pair", "Asks the Hue bridge for a user name, after its button was pressed, and keeps it in %s." % KEPT, annotations={"readOnlyHint": False, "destructiveHint": False})
def pair():
    if os.environ.get("HUE_USER"):
        return "HUE_USER is set already."
    data = bridge("POST", "/api", {"devicetype": "hue-rooms#desk"})
    try:
        name = data[0]["success"]["username"]
    except (KeyError, IndexError, TypeError):
        raise RuntimeError("the bridge gave no user name") from None
    if not isinstance(name, str) or not re.fullmatch(r"[0-9A-Za-z-]{10,80}", name):
        raise RuntimeError("the bridge gave no user name")
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(KEPT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(name + "\n")
    return "Paired with %s." % BRIDGE


server.run()
