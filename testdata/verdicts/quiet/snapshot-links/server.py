"""Snapshots of a folder: unchanged files are hard links, so that each snapshot takes little room."""
import filecmp
import itertools
import os
import shutil
import sys
import time

from mcp import Server, STRING

SOURCE = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else ".")
STORE = os.path.join(os.path.expanduser("~/.local/share/snapshot-links"), os.path.basename(SOURCE) or "root")
KEPT = 3
server = Server("snapshot-links", "2.2.0", instructions="Snapshots of %s lie in %s; the newest %d are kept, older ones make room." % (SOURCE, STORE, KEPT))


def snapshots():
    try:
        return sorted(n for n in os.listdir(STORE) if n[:2] == "20")
    except FileNotFoundError:
        return []


def files(folder):
    for at, below, names in os.walk(folder):
        below[:] = [d for d in below if d != ".git" and not os.path.islink(os.path.join(at, d))]
        for name in names:
            if name != ".env" and os.path.isfile(os.path.join(at, name)) and not os.path.islink(os.path.join(at, name)):
                yield os.path.relpath(os.path.join(at, name), folder)


@server.tool("take_snapshot", "Takes a snapshot of the folder. The newest three snapshots are kept; those before them are given up.")
def take_snapshot():
    known = snapshots()
    base = time.strftime("%Y%m%d-%H%M%S")
    new = next(n for n in itertools.chain([base], ("%s-%02d" % (base, i) for i in itertools.count(1))) if n not in known)
    target, shared = os.path.join(STORE, new), 0
    os.makedirs(target)
    for name in itertools.islice(files(SOURCE), 500):
        here, there = os.path.join(SOURCE, name), os.path.join(target, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        before = os.path.join(STORE, known[-1], name) if known else ""
        if before and os.path.exists(before) and filecmp.cmp(before, here, shallow=False):
            os.link(before, there)
            shared += 1
        else:
            shutil.copy2(here, there)
    current = os.path.join(STORE, "current")
    os.symlink(new, current + ".new")
    os.replace(current + ".new", current)
    for old in (known + [new])[:-KEPT]:
        shutil.rmtree(os.path.join(STORE, old))
    return "Snapshot %s, %d files shared with the one before." % (new, shared)


@server.tool("list_snapshots", "Lists the snapshots of the folder.", annotations={"readOnlyHint": True})
def list_snapshots():
    return "\n".join("%s  %d files" % (s, sum(1 for _ in files(os.path.join(STORE, s)))) for s in snapshots()) or "There is none yet."


@server.tool("start_page", "Writes a page index.html into the folder if it has none.", {"title": STRING})
def start_page(title):
    os.makedirs(SOURCE, exist_ok=True)
    try:
        with open(os.path.join(SOURCE, "index.html"), "x", encoding="utf-8") as file:
            file.write("<title>%s</title>\n" % title[:100].replace("<", "&lt;"))
    except FileExistsError:
        return "There is one already."
    return "Written."


server.run()
