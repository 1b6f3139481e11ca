#!/usr/bin/env python3
"""epub-reader: read the books of ~/Books chapter by chapter. EPUBs are ZIP archives; nothing is unpacked to the disk."""
import json
import os
import posixpath
import re
import sys
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

from mcp import STRING, Server

BOOKS = Path(os.environ.get("EPUB_DIR") or (sys.argv[1] if len(sys.argv) > 1 else Path.home() / "Books")).resolve()
POSITIONS = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "epub-reader" / "positions.json"
BOOK = {"type": "string", "description": "the file as list_books shows it"}
CHAPTER = {"type": "integer", "minimum": 1}
LOCAL = {"readOnlyHint": True, "openWorldHint": False}
server = Server("epub-reader", "0.8.0", "Reads EPUB books below %s. Books are never changed; set_position keeps where you are in %s." % (BOOKS, POSITIONS))


class Text(HTMLParser):
    BLOCKS = {"p", "div", "h1", "h2", "h3", "h4", "li", "br", "tr", "blockquote"}

    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        self.hidden += tag in ("script", "style", "title")
        if tag in self.BLOCKS:
            self.parts.append("\n")

    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style", "title") and self.hidden > 0

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(re.sub(r"\s+", " ", data))


def plain(markup):
    parser = Text()
    parser.feed(markup)
    return re.sub(r" ?\n[ \n]*", "\n", "".join(parser.parts)).strip()


class Book:
    def __init__(self, name):
        self.path = (BOOKS / name).resolve()
        if not self.path.is_relative_to(BOOKS) or self.path.suffix.lower() != ".epub":
            raise ValueError("%s is no EPUB below %s" % (name, BOOKS))
        self.zip = zipfile.ZipFile(self.path)
        container = self.read("META-INF/container.xml")
        found = re.search(r'full-path="([^"]+)"', container)
        if not found:
            raise ValueError("%s names no package file" % name)
        self.package = self.read(found[1])
        base = posixpath.dirname(found[1])
        items = {}
        for tag in re.findall(r"<(?:opf:)?item\s[^>]*>", self.package):
            attributes = dict(re.findall(r'([\w-]+)="([^"]*)"', tag))
            items[attributes.get("id")] = posixpath.normpath(posixpath.join(base, unquote(attributes.get("href", ""))))
        self.spine = [items[i] for i in re.findall(r'<(?:opf:)?itemref\s[^>]*?idref="([^"]+)"', self.package) if i in items]

    def read(self, member):
        info = self.zip.getinfo(member)
        if info.file_size > 8 << 20:
            raise ValueError("%s is too large for a chapter" % member)
        return self.zip.read(info).decode("utf-8", "replace")

    def about(self, field):
        found = re.search(r"<dc:%s\b[^>]*>([^<]*)<" % field, self.package)
        return found[1].strip() if found else ""

    def chapter(self, number):
        if not 1 <= number <= len(self.spine):
            raise ValueError("the book has chapters 1 to %d" % len(self.spine))
        return plain(self.read(self.spine[number - 1]))


def positions():
    try:
        return json.loads(POSITIONS.read_text())
    except (OSError, ValueError):
        return {}


@server.tool("list_books", "Lists the EPUB books with title, author and where you stopped reading.", annotations=LOCAL)
def list_books():
    lines, at = [], positions()
    for path in sorted(BOOKS.rglob("*.epub"))[:200]:
        name = path.relative_to(BOOKS).as_posix()
        try:
            book = Book(name)
            lines.append("%s: %s, %s (%d chapters%s)" % (name, book.about("title"), book.about("creator"), len(book.spine), ", you are in %s" % at[name] if name in at else ""))
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as e:
            lines.append("%s: cannot be read (%s)" % (name, e))
    return "\n".join(lines) or "No books in %s." % BOOKS


@server.tool("read_chapter", "Returns a chapter of a book as plain text, at most 40000 characters from an offset.", {"book": BOOK, "chapter": CHAPTER},
             {"offset": {"type": "integer", "minimum": 0, "default": 0}}, annotations=LOCAL)
def read_chapter(book, chapter, offset=0):
    text = Book(book).chapter(chapter)
    return text[max(offset, 0):][:40000] or "The chapter ends before."


@server.tool("find_in_book", "Finds words in a book, upper and lower case alike, and shows each place with its surroundings.", {"book": BOOK, "words": STRING}, annotations=LOCAL)
def find_in_book(book, words):
    opened, hits = Book(book), []
    if not words.strip():
        raise ValueError("words is empty")
    for number in range(1, len(opened.spine) + 1):
        text = opened.chapter(number)
        for match in re.finditer(re.escape(words), text, re.I):
            hits.append("chapter %d: …%s…" % (number, " ".join(text[max(0, match.start() - 60):match.end() + 60].split())))
    return "\n".join(hits[:100]) or "Not in this book."


@server.tool("set_position", "Remembers the chapter that you are in.", {"book": BOOK, "chapter": CHAPTER}, annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def set_position(book, chapter):
    opened = Book(book)
    opened.chapter(chapter)
    POSITIONS.parent.mkdir(parents=True, exist_ok=True)
    new = POSITIONS.with_suffix(".new")
    new.write_text(json.dumps({**positions(), opened.path.relative_to(BOOKS).as_posix(): chapter}, indent=1))
    new.replace(POSITIONS)
    return "%s: chapter %d" % (book, chapter)


server.run()
