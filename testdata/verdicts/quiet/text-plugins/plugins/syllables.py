"""Counts syllables, roughly."""
import re

NAME, VERSION = "syllables", "0.2"
DESCRIPTION = "Counts the syllables of each line of an English text, roughly, e.g. for haiku."
PARAMETERS = {"text": {"type": "string"}}
REQUIRED = ["text"]


def count(word):
    groups = re.findall(r"[aeiouy]+", word)
    return max(1, len(groups) - (word.endswith("e") and not word.endswith("le") and len(groups) > 1))


def run(text):
    lines = text.lower().splitlines()
    return "\n".join("%d  %s" % (sum(map(count, re.findall(r"[a-z]+", line))), line) for line in lines) or "(empty)"
