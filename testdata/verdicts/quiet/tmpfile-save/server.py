"""Keeps clippings in files that appear whole or not at all."""
import os
import re
import time

from mcp import Server, STRING

FOLDER = os.path.expanduser("~/.local/share/tmpfile-save")
server = Server("tmpfile-save", "0.9.0")


def save_whole(path, data):
    folder = os.path.dirname(path)
    try:
        fd = os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o600)
    except OSError:  # the file system has none
        with open(path + ".part", "xb") as file:
            file.write(data)
        os.rename(path + ".part", path)
        return
    try:
        os.write(fd, data)
        os.fsync(fd)
        place = os.open(folder, os.O_DIRECTORY)
        try:
            os.link("/proc/self/fd/%d" % fd, os.path.basename(path), dst_dir_fd=place, follow_symlinks=True)
        finally:
            os.close(place)
    finally:
        os.close(fd)


def names():
    try:
        return sorted(n for n in os.listdir(FOLDER) if n.endswith(".txt"))
    except FileNotFoundError:
        return []


@server.tool("keep_clipping", "Saves a clipping of text with a few words about it.", {"text": STRING, "about": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def keep_clipping(text, about):
    os.makedirs(FOLDER, mode=0o700, exist_ok=True)
    slug = re.sub(r"[^a-z0-9]+", "-", about.lower()).strip("-")[:40] or "clipping"
    name = "%s-%d-%s.txt" % (time.strftime("%Y%m%d"), time.time_ns() % 10**12, slug)
    save_whole(os.path.join(FOLDER, name), text[:100_000].encode("utf-8", "replace"))
    return "Kept as " + name


@server.tool("find_clippings", "Lists the clippings in which a word stands; all of them without a word.", optional={"word": STRING}, annotations={"readOnlyHint": True, "openWorldHint": False})
def find_clippings(word=""):
    found = []
    for name in names():
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            text = file.read()
        if word.lower() in text.lower() or word.lower() in name:
            found.append("%s: %s" % (name, text[:80].replace("\n", " ")))
    return "\n".join(found) or "Nothing was found."


server.run()
