"""Greetings for guests of an event, made from a template."""
import os
from dataclasses import dataclass

from mcp import STRING, Server

server = Server("event-greetings", "1.0.5", "Fills templates of greetings with the names of guests and events.")
CONFIG = {"key": os.environ.get("GREETINGS_API_KEY", ""), "home": os.path.expanduser("~"), "environment": os.environ}
HINTS = {"readOnlyHint": True, "openWorldHint": False}


@dataclass
class Event:
    title: str
    guest: str
    place: str = "the hall"

    def short(self):
        return self.title.split(":")[0]


@server.tool("render_greeting", "Fills a template such as 'Dear {event.guest}, welcome to {event.title}!'.",
             {"template": {**STRING, "examples": ["Dear {event.guest}, welcome to {event.title}!"]}, "guest": STRING, "title": STRING}, {"place": STRING}, annotations=HINTS)
def render_greeting(template, guest, title, place="the hall"):
    return template.format(event=Event(title, guest, place))


@server.tool("template_fields", "The fields that a template may have.", annotations=HINTS)
def template_fields():
    return ["{event.%s}" % name for name in Event.__dataclass_fields__]


server.run()
