"""Fills form letters: a template and a person make a letter."""
import os
import string
import time

from mcp import STRING, Server

server = Server("form-letters", "0.6.0", "Fills form letters. Fields stand in braces: {person.name}, {person.city}, {today.date}.")
LANGUAGE = os.environ.get("LANG", "en")[:2]
GREETINGS = {"de": "Guten Tag", "fr": "Bonjour", "es": "Hola", "en": "Dear"}


class Person:
    """Whom a letter is for."""

    def __init__(self, name, city="", company=""):
        self.name, self.city, self.company = name, city, company
        self.first, _, self.last = name.partition(" ")
        self.greeting = "%s %s" % (GREETINGS.get(LANGUAGE, "Dear"), self.first)

    def __format__(self, spec):
        return self.name.upper() if spec == "upper" else self.name


class Today:
    """The day on which a letter is written."""

    def __init__(self):
        now = time.localtime()
        self.date, self.year, self.week = time.strftime("%d %B %Y", now), now.tm_year, time.strftime("%V", now)


PERSON = {"name": STRING, "city": STRING, "company": STRING}


@server.tool("fill_letter", "Fills a form letter. The template may use {person.name}, {person.first}, {person.last}, {person.city}, {person.company}, {person.greeting}, {today.date}, {today.year} and {today.week}.",
             {"template": STRING, "name": STRING}, {"city": STRING, "company": STRING}, annotations={"readOnlyHint": True})
def fill_letter(template, name, city="", company=""):
    return template.format(person=Person(name, city, company), today=Today())


@server.tool("fill_letters", "Fills one form letter for several people.", {"template": STRING, "people": {"type": "array", "items": {"type": "object", "properties": PERSON, "required": ["name"]}, "maxItems": 50}},
             annotations={"readOnlyHint": True})
def fill_letters(template, people):
    made = [template.format(person=Person(p["name"], p.get("city", ""), p.get("company", "")), today=Today()) for p in people]
    return "\n\n---\n\n".join(made)


@server.tool("list_fields", "Lists the fields that a template uses.", {"template": STRING}, annotations={"readOnlyHint": True})
def list_fields(template):
    return "\n".join(sorted({name for _, name, _, _ in string.Formatter().parse(template) if name})) or "none"


server.run()
