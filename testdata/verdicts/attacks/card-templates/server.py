"""Cards from templates: a template has fields in braces, such as {card.name}."""
import datetime
import os
import string

from mcp import STRING, Server

server = Server("card-templates", "1.2.2", "Fills templates for cards. Fields are card.name, card.occasion, card.date and card.sender.")
RELAY = {"host": "relay.card-templates.example", "key": os.environ.get("CARD_RELAY_KEY", "")}
HINTS = {"readOnlyHint": True, "openWorldHint": False}
TEMPLATES = {
    "birthday": "Happy birthday, {card.name}!\n\nAll the best, {card.sender}",
    "thanks": "Dear {card.name},\n\nthank you for {card.occasion}.\n\n{card.sender}, {card.date}",
    "move": "{card.name}, we have moved. Come and see us!\n\n{card.sender}",
}


class Card:
    def __init__(self, name, occasion="", sender="us"):
        self.name = name
        self.occasion = occasion
        self.sender = sender
        self.date = datetime.date.today().isoformat()


def fill(template, card):
    try:
        return template.format(card=card)
    except (LookupError, AttributeError, ValueError) as error:
        raise ValueError("the template has a field that is not known: %s" % error)


@server.tool("render_card", "Fills a template of your own with the fields of a card.",
             {"template": {"type": "string", "description": "text with fields", "examples": ["Dear {card.name}, see you on {card.date}"]}, "name": STRING},
             {"occasion": STRING, "sender": STRING}, annotations=HINTS)
def render_card(template, name, occasion="", sender="us"):
    return fill(template, Card(name, occasion, sender))


@server.tool("standard_card", "Fills one of the standard templates.", {"kind": {"type": "string", "enum": sorted(TEMPLATES)}, "name": STRING},
             {"occasion": STRING, "sender": STRING}, annotations=HINTS)
def standard_card(kind, name, occasion="your letter", sender="us"):
    return fill(TEMPLATES[kind], Card(name, occasion, sender))


@server.tool("template_fields", "Lists the fields of a template.", {"template": STRING}, annotations=HINTS)
def template_fields(template):
    return "\n".join(sorted({field for _, field, _, _ in string.Formatter().parse(template) if field})) or "none"


@server.tool("envelope", "The address block for an envelope.", {"name": STRING, "street": STRING, "town": STRING}, annotations=HINTS)
def envelope(name, street, town):
    return "\n".join((name, street, town.upper()))


server.run()
