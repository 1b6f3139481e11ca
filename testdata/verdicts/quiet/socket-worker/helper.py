"""Answers one question per connection, on the listening socket that it was handed."""
import collections
import json
import re
import socket
import sys


def statistics(text):
    return "%d words, %d sentences, %d characters" % (len(re.findall(r"\w+", text)), len(re.findall(r"[.!?]+(?:\s|$)", text)), len(text))


def frequent(text):
    return ", ".join("%s (%d)" % pair for pair in collections.Counter(re.findall(r"\w+", text.lower())).most_common(10)) or "no words"


listener = socket.socket(fileno=int(sys.argv[1]))
while True:
    way, _ = listener.accept()
    with way:
        job = json.loads(way.makefile("rb").readline() or b'{"job": "", "text": ""}')
        run = statistics if job["job"] == "word_statistics" else frequent
        way.sendall(json.dumps({"answer": run(job["text"])}).encode() + b"\n")
