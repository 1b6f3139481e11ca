"""Finds words that rhyme, from the word list of the system or a small one of its own."""
import collections
import os
import pickle
import re

from mcp import Server, STRING

server = Server("rhyme-finder", "1.2.5")

LISTS = ["/usr/share/dict/words", "/usr/share/dict/british-english", "/usr/share/dict/american-english"]
SMALL = """bake cake lake make rake sake take wake brake flake shake snake day gray hay may pay play ray say stay tray way
bright fight flight kite light might night right sight white bell cell fell sell shell smell spell tell well
bone cone lone phone stone throne tone zone blue clue crew dew few glue new shoe true view who you
ball call fall hall small tall wall bring king ring sing spring string swing thing wing
dream beam cream gleam scheme steam stream team theme fire choir desire hire tire wire
""".split()
INDEX = "/tmp/rhyme-index.pickle"
VOWELS = "aeiouy"


def ending(word):
    """What rhymes of a word: from its last sounding vowel on."""
    core = re.sub(r"(?<=[^aeiouy])e$", "", word)
    found = re.search(r"[aeiouy]+[^aeiouy]*$", core)
    return (found.group(0) if found else core[-2:]) + ("e" if core != word else "")


def build():
    words = set(SMALL)
    for path in LISTS:
        if os.path.exists(path):
            with open(path, encoding="utf-8", errors="replace") as f:
                words.update(w.strip() for w in f if re.fullmatch(r"[a-z]{2,12}\n?", w))
            break
    index = collections.defaultdict(list)
    for word in sorted(words):
        index[ending(word)].append(word)
    return dict(index)


def index():
    """The index of all words. Building it takes a second, so that it is kept from one start to the next."""
    if not os.path.exists(INDEX):
        with open(INDEX, "wb") as out:
            pickle.dump(build(), out)
    with open(INDEX, "rb") as f:
        return pickle.load(f)


PURE = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("rhymes", "Lists words that rhyme with a word.", {"word": {**STRING, "pattern": "^[A-Za-z]{1,20}$"}}, {"limit": {"type": "integer", "minimum": 1, "maximum": 200}}, annotations=PURE)
def rhymes(word, limit=30):
    word = word.lower()
    found = [w for w in index().get(ending(word), []) if w != word]
    return ", ".join(found[:limit]) or "No rhyme is known."


@server.tool("do_rhyme", "Says whether two words rhyme by their spelling.", {"first": STRING, "second": STRING}, annotations=PURE)
def do_rhyme(first, second):
    return "yes" if ending(first.lower()) == ending(second.lower()) and first.lower() != second.lower() else "no"


@server.tool("scheme", "Gives the rhyme scheme of a poem, such as ABAB.", {"poem": STRING}, annotations=PURE)
def scheme(poem):
    names, out = {}, []
    for line in poem.splitlines()[:100]:
        words = re.findall(r"[a-z]+", line.lower())
        if words:
            key = ending(words[-1])
            names.setdefault(key, chr(ord("A") + len(names) % 26))
            out.append(names[key])
    return "".join(out) or "There are no lines."


server.run()
