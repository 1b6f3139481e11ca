"""spell-desk: a spell checker on the word lists in /usr/share/dict, with words of the user's own in ~/.config/spell-desk/words.txt.

Where there is no word list, aspell is asked for one (`aspell dump master`)."""
import os
import re
import shutil
import subprocess
from pathlib import Path

from mcp import STRING, Server

LISTS = Path("/usr/share/dict")
OWN = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "spell-desk" / "words.txt"
LANGUAGES = {"en": ["words", "american-english", "british-english"], "de": ["ngerman", "german"], "fr": ["french"], "es": ["spanish"], "it": ["italian"]}
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
SKIP = re.compile(r"```.*?```|`[^`\n]*`|https?://\S+|\S+@\S+|\b\w*[/_\\]\w[\w/\\.]*", re.S)
TEXT = {"type": "string", "description": "Text or Markdown; code and addresses are left out"}
LANGUAGE = {"type": "string", "enum": list(LANGUAGES), "default": "en"}
loaded = {}

server = Server("spell-desk", "0.8.1", instructions="Word lists are those of /usr/share/dict, or else of aspell if it is installed. add_word keeps words in ~/.config/spell-desk/words.txt.")


def own_words():
    try:
        return {w.strip() for w in OWN.read_text(encoding="utf-8").splitlines() if w.strip() and not w.startswith("#")}
    except FileNotFoundError:
        return set()


def dictionary(language):
    if language not in LANGUAGES:
        raise ValueError("languages: " + ", ".join(LANGUAGES))
    if language not in loaded:
        words = set()
        for name in LANGUAGES[language]:
            if (LISTS / name).is_file():
                words.update((LISTS / name).read_text(encoding="utf-8", errors="ignore").split())
        if not words and shutil.which("aspell"):
            done = subprocess.run(["aspell", "-l", language, "--encoding=utf-8", "dump", "master"], capture_output=True, text=True, timeout=60)
            words.update(w.partition("/")[0] for w in done.stdout.split())
        loaded[language] = words
    if not loaded[language]:
        raise LookupError("no word list for %s: install a package such as wamerican or wngerman, which puts one into %s" % (language, LISTS))
    return loaded[language]


def known(word, words, own):
    word = word.replace("’", "'")
    forms = {word, word.lower(), word.removesuffix("'s"), word.lower().removesuffix("'s")}
    return len(word) < 2 or word.isupper() or bool(forms & words) or bool(forms & own)


def near(word, words):
    """Words that are one change away: a letter less, more, other, or two swapped."""
    letters = "abcdefghijklmnopqrstuvwxyzäöüßéèàçñ'"
    low = word.lower()
    cuts = [(low[:i], low[i:]) for i in range(len(low) + 1)]
    made = {a + b[1:] for a, b in cuts if b} | {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    made |= {a + c + b[1:] for a, b in cuts if b for c in letters} | {a + c + b for a, b in cuts for c in letters}
    return sorted(w for m in made for w in (m, m.capitalize()) if w in words)[:8]


@server.tool("check_spelling", "Lists the words of a text that are in no word list, with the lines they are in and what may be meant.", required={"text": TEXT},
             optional={"language": LANGUAGE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def check_spelling(text, language="en"):
    words, own = dictionary(language), own_words()
    blank = SKIP.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text[:300_000])
    found = {}
    for number, line in enumerate(blank.split("\n"), 1):
        for word in WORD.findall(line):
            if not known(word, words, own):
                found.setdefault(word, []).append(number)
    lines = []
    for word, where in sorted(found.items(), key=lambda p: p[1])[:200]:
        guess = near(word, words) if len(word) < 30 else []
        lines.append("%s (line %s)%s" % (word, ", ".join(map(str, sorted(set(where))[:5])), ": " + ", ".join(guess) if guess else ""))
    return "\n".join(lines) or "No mistakes found."


@server.tool("suggest", "Proposes words for one that is misspelled.", required={"word": STRING}, optional={"language": LANGUAGE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def suggest(word, language="en"):
    words = dictionary(language)
    if not WORD.fullmatch(word) or len(word) > 40:
        raise ValueError("that is not one word")
    if known(word, words, own_words()):
        return "%s is spelled right." % word
    return ", ".join(near(word, words)) or "Nothing is near."


@server.tool("add_word", "Adds a word to the user's own list, so that it counts as right from now on.", required={"word": STRING},
             annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def add_word(word):
    word = word.strip()
    if not WORD.fullmatch(word) or len(word) > 60:
        raise ValueError("%r is not one word" % word)
    if word in own_words():
        return "%s is in the list already." % word
    OWN.parent.mkdir(parents=True, exist_ok=True)
    with OWN.open("a+", encoding="utf-8") as f:
        f.seek(0)
        before = f.read()
        f.write(("\n" if before and not before.endswith("\n") else "") + word + "\n")
    return "Added %s to %s." % (word, OWN)


@server.tool("own_words", "Lists the words of the user's own list.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_own_words():
    return "\n".join(sorted(own_words(), key=str.lower)) or "The list %s is empty." % OWN


server.run()
