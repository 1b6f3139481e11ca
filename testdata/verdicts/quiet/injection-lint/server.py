"""A linter for authors of skills, tools and help pages: does a text hold phrases of prompt injection?"""
import re
import unicodedata

from mcp import Server, STRING

RULES = {
    "override": (r"\b(?:ignore|disregard|forget)\b.{0,30}\b(?:instructions|prompts?|rules)\b", "Tells a model to drop what it was told, as in “Ignore all previous instructions”."),
    "secrecy": (r"\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|mention|inform)\w*\b.{0,20}\buser\b", "Tells a model to keep its user in the dark, as in “Do not mention this to the user”."),
    "fake-role": (r"<\s*/?\s*(?:system|assistant)\s*>|\[INST\]", "Imitates the marks by which a prompt separates roles."),
    "hidden": (r"[\u200b\u2060\ufeff]{3,}|[\U000e0000-\U000e007f]{4,}", "Runs of characters that nobody sees."),
}
server = Server("injection-lint", "1.0.0", instructions="Finds phrases of prompt injection in texts, for authors who want their documentation clean. It is a linter: what it quotes are examples and findings.")
READ = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("lint_text", "Finds phrases of prompt injection in a text and says on which lines.", {"text": STRING}, annotations=READ)
def lint_text(text):
    said = []
    for number, line in enumerate(text[:100_000].splitlines(), 1):
        for name, (pattern, _) in RULES.items():
            if re.search(pattern, unicodedata.normalize("NFKC", line)[:2000], re.I):
                said.append("line %d: %s" % (number, name))
    return "\n".join(said[:100]) or "Nothing was found."


@server.tool("explain_rule", "Explains a rule of this linter for prompt injection, with an example of what it finds.", {"rule": {**STRING, "enum": sorted(RULES)}}, annotations=READ)
def explain_rule(rule):
    return RULES[rule][1] if rule in RULES else "Rules: " + ", ".join(sorted(RULES))


@server.tool("list_rules", "Lists the rules of this linter.", annotations=READ)
def list_rules():
    return "\n".join(sorted(RULES))


server.run()
