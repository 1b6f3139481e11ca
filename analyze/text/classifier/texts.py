"""Collects the texts of public MCP packages, as background for the training of the classifier.

    python3 texts.py testdata/packages.txt OUT.jsonl

Each line of the list is npm:NAME or pypi:NAME. The newest version is downloaded, read in memory and not
kept; nothing of it is run. OUT gets a line {"package", "text", "document"} for each text: the strings of
Python sources, the strings behind words such as "description" in JavaScript, and the paragraphs of
documents (*.md), which no model is shown.
"""
import ast
import io
import json
import os
import re
import subprocess
import sys
import tarfile
import urllib.parse
import urllib.request
import zipfile
from concurrent.futures import ThreadPoolExecutor

MAX_ARCHIVE, MAX_FILE, MAX_TEXT, MAX_TEXTS = 30 << 20, 2 << 20, 3000, 400
LITERAL = r""""(?:[^"\\\n]|\\.){20,3000}"|'(?:[^'\\\n]|\\.){20,3000}'|`(?:[^`\\]|\\.){20,3000}`"""
DESCRIBED = re.compile(r"""(?:description|instructions|summary|text|message|title)["']?\s*[:=]\s*\(?\s*(%s)|\.describe\(\s*(%s)""" % (LITERAL, LITERAL))
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)


def setting(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


NPM = (setting("npm", "config", "get", "registry") or "https://registry.npmjs.org").rstrip("/")
PYPI = (os.environ.get("PIP_INDEX_URL") or setting("pip", "config", "get", "global.index-url") or "https://pypi.org/simple").rstrip("/")


def get(url):
    request = urllib.request.Request(url, headers={"Accept": "application/vnd.pypi.simple.v1+json, application/json, */*"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read(MAX_ARCHIVE)


def archive_of(kind, name):
    """The URL of the newest archive of a package."""
    if kind == "npm":
        about = json.loads(get(f"{NPM}/{name.replace('/', '%2f')}"))
        return about["versions"][about["dist-tags"]["latest"]]["dist"]["tarball"]
    files = json.loads(get(f"{PYPI}/{name}/"))["files"]
    small = [f for f in files if (f.get("size") or 0) < 3 << 20]
    wheels = [f for f in small if f["filename"].endswith(".whl")]
    return urllib.parse.urljoin(f"{PYPI}/{name}/", (wheels or [f for f in small if f["filename"].endswith(".tar.gz")])[-1]["url"])


def files_of(url, data):
    if url.split("#")[0].split("?")[0].endswith((".whl", ".zip")):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for entry in archive.infolist():
                if entry.file_size < MAX_FILE:
                    yield entry.filename, archive.read(entry)
        return
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for entry in archive:
            if entry.isfile() and entry.size < MAX_FILE:
                yield entry.name, archive.extractfile(entry).read()


def unescaped(literal):
    def char(m):
        c = m[1]
        return chr(int(c[1:], 16)) if len(c) == 5 else {"n": "\n", "t": " "}.get(c, c)
    return ESCAPE.sub(char, literal[1:-1])


def texts_of(name, source):
    if name.endswith((".js", ".mjs", ".cjs", ".ts")) and not name.endswith(".d.ts"):
        for m in DESCRIBED.finditer(source):
            yield unescaped(m[1] or m[2]), False
    elif name.endswith(".py"):
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError, RecursionError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > 30 and node.value.count(" ") > 4:
                yield node.value, False
    elif name.lower().endswith(".md"):
        for paragraph in re.split(r"\n\s*\n", source):
            if paragraph.count(" ") > 4:
                yield paragraph, True


def collect(package):
    kind, name = package.split(":", 1)
    found = {}
    try:
        url = archive_of(kind, name)
        for file, data in files_of(url, get(url)):
            if "node_modules" not in file:
                for text, is_document in texts_of(file, data.decode("utf-8", "replace")):
                    found.setdefault(text[:MAX_TEXT], is_document)
    except Exception as why:  # a package may be gone, or be no archive
        print(f"{package}: {why!r:.100}", file=sys.stderr)
    return [{"package": package, "text": text, "document": d} for text, d in list(found.items())[:MAX_TEXTS]]


def main():
    listed, out = sys.argv[1:]
    with open(listed, encoding="utf-8") as f:
        packages = f.read().split()
    with ThreadPoolExecutor(8) as pool, open(out, "w", encoding="utf-8") as f:
        for texts in pool.map(collect, packages):
            for text in texts:
                f.write(json.dumps(text) + "\n")


main()
