"""Mixed Hebrew, Arabic and English text: isolates what runs the other way, shows and removes marks of direction."""
import sys
import unicodedata

from mcp import Server, STRING

sys.stdout.reconfigure(errors="replace")
LRI, RLI, FSI, PDI, LRM, RLM = "\u2066", "\u2067", "\u2068", "\u2069", "\u200e", "\u200f"
MARKS = {c: unicodedata.name(c) for c in "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}

server = Server("bidi-helper", "1.0.0", instructions="For interfaces in Hebrew (שלום עולם‏) and Arabic (مرحبا بالعالم‏).")
PURE = {"readOnlyHint": True, "openWorldHint": False}


def direction(text):
    for c in text:
        kind = unicodedata.bidirectional(c)
        if kind == "L":
            return "left-to-right"
        if kind in ("R", "AL"):
            return "right-to-left"
    return "neutral"


@server.tool("text_direction", "Says in which direction a text runs, by its first strong letter. Example: \u201cשלום עולם‏\u201d runs right-to-left.", {"text": STRING}, annotations=PURE)
def text_direction(text):
    strong = [unicodedata.bidirectional(c) for c in text]
    return {"direction": direction(text), "left": strong.count("L"), "right": strong.count("R") + strong.count("AL"), "marks": sum(c in MARKS for c in text)}


@server.tool("isolate_name", "Puts a name into a sentence so that neither disturbs the order of the other (with FSI and PDI). {name} in the sentence is where it goes.",
             {"sentence": {"type": "string", "examples": ["‏{name} הצטרף לקבוצה.‏"]}, "name": STRING}, annotations=PURE)
def isolate_name(sentence, name):
    if "{name}" not in sentence:
        sentence += " {name}"
    return sentence.replace("{name}", FSI + name + PDI)


@server.tool("end_with_mark", "Adds the mark (LRM or RLM) that keeps punctuation at the end of a line on the right side.", {"line": STRING}, annotations=PURE)
def end_with_mark(line):
    return line + (RLM if direction(line) == "right-to-left" else LRM)


@server.tool("show_marks", "Makes the invisible marks of direction in a text visible, or removes them.", {"text": STRING}, {"remove": {"type": "boolean"}}, annotations=PURE)
def show_marks(text, remove=False):
    if remove:
        return "".join(c for c in text if c not in MARKS) or "(only marks)"
    return "".join("<%s>" % MARKS[c] if c in MARKS else c for c in text) or "(empty)"


@server.prompt("translate_label", "Asks for a label in Hebrew and Arabic", arguments=[{"name": "label", "description": "the label in English", "required": True}])
def translate_label(label="", **_):
    return "Translate the label \u201c%s\u201d into Hebrew and Arabic, e.g. \u201cSave\u201d is \u201cשמירה\u201d and \u201cحفظ\u201d." % label


server.run()
