"""reading-ease: how hard a text is to read, and which sentences make it so. English and German.

A project may list phrases to avoid in .reading-ease.json: {"avoid": {"in order to": "to"}, "longest_sentence": 30}
"""
import json
import re
from functools import lru_cache
from pathlib import Path

from mcp import Server

STYLE = Path(".reading-ease.json")
AVOID = {
    "in order to": "to", "due to the fact that": "because", "at this point in time": "now", "in the event that": "if", "utilize": "use",
    "a large number of": "many", "prior to": "before", "with regard to": "about", "leverage": "use", "it is important to note that": "",
}
ABBREVIATIONS = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx|z\.B|d\.h|u\.a|bzw|ca|Nr|Dr|Mr|Mrs|Prof|St|No)\.", re.I)
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
TEXT = {"type": "string", "description": "Plain text or Markdown"}
LANGUAGE = {"type": "string", "enum": ["en", "de"], "default": "en"}
READ = {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True}

server = Server("reading-ease", "1.0.0")


def style():
    """Returns the phrases to avoid and the longest sentence that is still fine."""
    try:
        own = json.loads(STYLE.read_text(encoding="utf-8"))
    except FileNotFoundError:
        own = {}
    except ValueError as e:
        raise ValueError("%s: %s" % (STYLE.resolve(), e)) from None
    return {**AVOID, **own.get("avoid", {})}, int(own.get("longest_sentence", 25))


def plain(text):
    text = re.sub(r"```.*?(?:```|\Z)", " ", text[:500_000], flags=re.S)
    text = re.sub(r"`[^`\n]*`", "code", text)
    text = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", text)
    return re.sub(r"(?m)^\s{0,3}(?:#{1,6}|>|[-*+]|\d+\.)\s+", "", text)


def sentences(text):
    text = ABBREVIATIONS.sub(lambda m: m[0].replace(".", "\u2024"), text)
    parts = re.split(r"(?<=[.!?…])[\"”’)]*\s+|\n\s*\n", text)
    return [" ".join(p.split()).replace("\u2024", ".") for p in parts if WORD.search(p)]


@lru_cache(maxsize=50_000)
def syllables(word, language):
    word = word.lower()
    if language == "de":
        return max(1, len(re.findall(r"[aeiouyäöü]+", re.sub(r"(au|eu|äu|ei|ai|ie|aa|ee|oo)", "a", word))))
    word = re.sub(r"(?:[^laeiouy]es|ed|[^laeiouy]e)$", "", word)
    return max(1, len(re.findall(r"[aeiouy]{1,2}", word)))


def grade(value):
    for limit, name in ((80, "very easy"), (60, "easy to fairly easy"), (50, "fairly hard"), (30, "hard")):
        if value >= limit:
            return name
    return "very hard"


@server.tool("measure_text", "Computes the Flesch reading ease of a text (Amstad's formula for German), the Flesch-Kincaid grade and averages.",
             required={"text": TEXT}, optional={"language": LANGUAGE}, annotations=READ)
def measure_text(text, language="en"):
    found = sentences(plain(text))
    words = [w for s in found for w in WORD.findall(s)]
    if not words:
        return "There are no words in this text."
    per_sentence = len(words) / len(found)
    per_word = sum(syllables(w, language) for w in words) / len(words)
    ease = 180 - per_sentence - 58.5 * per_word if language == "de" else 206.835 - 1.015 * per_sentence - 84.6 * per_word
    lines = ["%d words in %d sentences, %.1f words each, %.2f syllables a word" % (len(words), len(found), per_sentence, per_word), "Reading ease: %.0f, %s" % (ease, grade(ease))]
    if language == "en":
        lines.append("Grade: %.1f" % (0.39 * per_sentence + 11.8 * per_word - 15.59))
    lines.append("Time to read: about %d min" % max(1, round(len(words) / 230)))
    return "\n".join(lines)


@server.tool("hard_sentences", "Lists the sentences that are hardest to read: too long, nested or in the passive voice. The limit is 25 words, or what .reading-ease.json in the working directory says.",
             required={"text": TEXT}, optional={"language": LANGUAGE}, annotations=READ)
def hard_sentences(text, language="en"):
    _, longest = style()
    lines = []
    for s in sentences(plain(text)):
        count, why = len(WORD.findall(s)), []
        if count > longest:
            why.append("%d words" % count)
        if len(re.findall(r"[,;:–(]", s)) > 4:
            why.append("nested")
        if language == "en" and re.search(r"\b(?:is|are|was|were|been|being|be)\s+(?:\w+ly\s+)?\w+(?:ed|en)\b", s):
            why.append("passive")
        if why:
            lines.append((count, "(%s) %s" % (", ".join(why), s)))
    return "\n".join(line for _, line in sorted(lines, reverse=True)[:20]) or "No sentence stands out."


@server.tool("worn_phrases", "Finds wordy phrases and proposes shorter ones. Phrases of the project's .reading-ease.json count too.", required={"text": TEXT}, annotations=READ)
def worn_phrases(text):
    avoid, _ = style()
    body, found = plain(text), []
    for phrase, better in avoid.items():
        n = len(re.findall(r"\b%s\b" % r"\s+".join(map(re.escape, phrase.split())), body, re.I)) if phrase.strip() else 0
        if n:
            found.append("%s (%d): %s" % (phrase, n, "write " + better if better else "leave it out"))
    return "\n".join(found) or "None found."


server.run()
