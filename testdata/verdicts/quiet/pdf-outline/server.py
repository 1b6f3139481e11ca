#!/usr/bin/env python3
"""pdf-outline: page counts, document properties and bookmarks of PDF files, without a PDF library.

usage: server.py [FOLDER]      the folder with the files, ~/Documents if none is named"""
import re
import sys
import zlib
from pathlib import Path

from mcp import Server

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path.home() / "Documents").resolve()
LARGEST = 64 << 20
READS = {"readOnlyHint": True, "openWorldHint": False}
FILE = {"type": "string", "description": "a path below the folder, as list_pdfs shows it"}

server = Server("pdf-outline", "0.6.1", "Looks at PDF files below %s only, and never changes one. Encrypted files are recognised but not opened." % ROOT)


def locate(name):
    path = (ROOT / name).resolve()
    if not path.is_relative_to(ROOT):
        raise ValueError("%s is not below %s" % (name, ROOT))
    if path.suffix.lower() != ".pdf":
        raise ValueError("%s is no PDF" % name)
    if path.stat().st_size > LARGEST:
        raise ValueError("%s is larger than 64 MB" % name)
    return path


def inflate(data):
    try:
        return zlib.decompressobj().decompress(data, 16 << 20)
    except zlib.error:
        return b""


class Pdf:
    """The objects of a file by number. Later definitions win, as with incremental updates."""

    def __init__(self, path):
        self.raw = path.read_bytes()
        if not self.raw.startswith(b"%PDF-"):
            raise ValueError("%s does not start as a PDF does" % path.name)
        self.version = self.raw[5:8].decode("latin-1")
        self.objects, packed = {}, []
        for match in re.finditer(rb"(\d{1,9})\s+\d{1,5}\s+obj\b", self.raw):
            end = self.raw.find(b"endobj", match.end())
            body = self.raw[match.end():end if end > 0 else len(self.raw)]
            self.objects[int(match[1])] = body
            if b"/ObjStm" in body[:400]:
                packed.append(body)
        for body in packed:
            self.unpack(body)
        self.encrypted = bool(re.search(rb"/Encrypt\s+\d+\s+\d+\s+R", self.raw))

    def unpack(self, body):
        first, start = re.search(rb"/First\s+(\d+)", body), re.search(rb"stream\r?\n", body)
        if not first or not start:
            return
        data = inflate(body[start.end():])
        head = [int(n) for n in data[:int(first[1])].split() if n.isdigit()]
        spots = list(zip(head[::2], head[1::2]))
        for i, (number, offset) in enumerate(spots):
            stop = spots[i + 1][1] if i + 1 < len(spots) else len(data)
            self.objects.setdefault(number, data[int(first[1]) + offset:int(first[1]) + stop])

    def ref(self, body, key):
        found = re.search(rb"/" + key + rb"\s+(\d+)\s+\d+\s+R", body)
        return self.objects.get(int(found[1]), b"") if found else b""

    def text(self, body, key):
        found = re.search(rb"/" + key + rb"\s*(?:\(((?:[^\\()]|\\.)*)\)|<([0-9A-Fa-f\s]*)>)", body, re.S)
        if not found:
            return ""
        if found[2] is not None:
            digits = b"".join(found[2].split())
            raw = bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode())
        else:
            special = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"", b"f": b""}
            raw = re.sub(rb"\\([0-7]{1,3}|.)", lambda m: bytes([int(m[1], 8) & 255]) if m[1].isdigit() else special.get(m[1], m[1]), found[1], flags=re.S)
        return raw[2:].decode("utf-16-be", "replace") if raw.startswith(b"\xfe\xff") else raw.decode("latin-1")

    def root(self):
        catalogs = [b for b in self.objects.values() if re.search(rb"/Type\s*/Catalog\b", b)]
        return catalogs[-1] if catalogs else b""


@server.tool("list_pdfs", "Lists the PDF files below the folder with their sizes.", annotations=READS)
def list_pdfs():
    found = sorted(p for p in ROOT.rglob("*.pdf") if p.is_file())[:300]
    return "\n".join("%8d kB  %s" % (p.stat().st_size // 1024, p.relative_to(ROOT)) for p in found) or "There is no PDF in %s." % ROOT


@server.tool("pdf_properties", "Shows version, number of pages, title, author and producer of a PDF file.", {"file": FILE}, annotations=READS)
def pdf_properties(file):
    pdf = Pdf(locate(file))
    lines = ["version: " + pdf.version, "pages: %d" % sum(bool(re.search(rb"/Type\s*/Page\b", b)) for b in pdf.objects.values())]
    if pdf.encrypted:
        return "\n".join(lines + ["encrypted: yes, so that its properties cannot be read"])
    infos = [b for b in pdf.objects.values() if b"/Producer" in b or b"/CreationDate" in b]
    for key in ("Title", "Author", "Subject", "Creator", "Producer", "CreationDate"):
        value = pdf.text(infos[-1], key.encode()) if infos else ""
        if value:
            lines.append("%s: %s" % (key.lower(), value[:300]))
    return "\n".join(lines)


@server.tool("pdf_bookmarks", "Shows the bookmarks (the outline) of a PDF file as an indented list.", {"file": FILE},
             {"depth": {"type": "integer", "minimum": 1, "maximum": 8, "default": 4}}, annotations=READS)
def pdf_bookmarks(file, depth=4):
    pdf, lines, seen = Pdf(locate(file)), [], set()

    def walk(body, level):
        item = pdf.ref(body, b"First")
        while item and id(item) not in seen and len(lines) < 1000:
            seen.add(id(item))
            lines.append("  " * level + "- " + pdf.text(item, b"Title"))
            if level + 1 < min(depth, 8):
                walk(item, level + 1)
            item = pdf.ref(item, b"Next")
    walk(pdf.ref(pdf.root(), b"Outlines"), 0)
    return "\n".join(lines) or "%s has no bookmarks." % file


server.run()
