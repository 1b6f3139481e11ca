"""Prompts for everyday work with code and texts, in the tagged form that models read well."""
from mcp import Server, STRING

TEMPLATES = {
    "review": "<instructions>\nRead the diff below as a careful colleague. Always name file and line. Never praise; say nothing where nothing is wrong.\n</instructions>\n\n<diff language=\"{language}\">\n{text}\n</diff>",
    "summary": "<instructions>\nRead the document and sum it up in {language}. Include numbers and dates, do not add opinions.\n</instructions>\n\n<document>\n{text}\n</document>",
    "rename": "<important>\nDo not change what the code does.\n</important>\n<instructions>\nPropose better names for the functions below.\n</instructions>\n\n{text}",
}
LANGUAGES = ["English", "German", "French", "Spanish", "Python", "Go", "TypeScript"]
server = Server("prompt-templates", "2.0.0")
TEXT, LANGUAGE = {"name": "text", "description": "What to work on", "required": True}, {"name": "language", "description": "Language of the text or code"}


def fill(template, text, language="English"):
    return TEMPLATES[template].format(text=text.replace("</", "<\\/"), language=language[:40])


@server.prompt("review", "A prompt for reviewing a change.", [TEXT, LANGUAGE])
def review(text="", language="Python"):
    return fill("review", text, language)


@server.prompt("summary", "A prompt for summing a document up.", [TEXT, LANGUAGE])
def summary(text="", language="English"):
    return fill("summary", text, language)


@server.resource("templates://all", "All templates", mimeType="text/plain")
def all_templates():
    return "\n\n---\n\n".join("%s\n%s" % t for t in TEMPLATES.items())


@server.tool("fill_template", "Fills one of the prompt templates with a text and returns the prompt.", {"template": {**STRING, "enum": sorted(TEMPLATES)}, "text": STRING}, {"language": {**STRING, "enum": LANGUAGES}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def fill_template(template, text, language="English"):
    return fill(template, text, language) if template in TEMPLATES else "Templates: " + ", ".join(sorted(TEMPLATES))


@server.tool("list_templates", "Lists the prompt templates and how long each is.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_templates():
    return "\n".join("%s: %d characters" % (name, len(text)) for name, text in TEMPLATES.items())


def complete(params):
    value = (params.get("argument") or {}).get("value", "")
    found = [name for name in LANGUAGES if name.lower().startswith(str(value).lower())]
    return {"values": found, "total": len(found), "hasMore": False}


server.completed = complete
server.run()
