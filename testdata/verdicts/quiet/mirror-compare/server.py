#!/usr/bin/env python3
"""mirror-compare: does a copy of a folder still match the original?

    server.py [ROOT]

All folders are named relative to ROOT, and nothing outside of ROOT is read. Without ROOT the two sample folders beside
this file are shown. Checksums are cached in ~/.cache/mirror-compare/checksums.json with the size and time of each file.
"""
import fcntl
import hashlib
import json
import os
import stat
import sys

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "sample"))
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "mirror-compare")
LIMIT = 20_000  # files in one folder


class Checksums:
    """SHA-256 sums by path, size and modification time; two servers may share the file, so it is locked."""

    def __init__(self, folder):
        self.path, self.lock = os.path.join(folder, "checksums.json"), os.path.join(folder, "lock")
        os.makedirs(folder, exist_ok=True)
        self.known = self.read()
        self.dirty = False

    def read(self):
        try:
            with open(self.path, encoding="utf-8") as file:
                known = json.load(file)
            return known if isinstance(known, dict) else {}
        except (OSError, ValueError):
            return {}

    def of(self, path, info):
        key = "%s|%d|%d" % (os.fsencode(path).hex(), info.st_size, info.st_mtime_ns)
        if key not in self.known:
            digest = hashlib.sha256()
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
                while block := file.read(1 << 18):
                    digest.update(block)
            self.known[key], self.dirty = digest.hexdigest(), True
        return self.known[key]

    def save(self):
        if not self.dirty:
            return
        with open(self.lock, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            merged = {**self.read(), **self.known}
            with open(self.path + ".tmp", "w", encoding="utf-8") as out:
                json.dump(merged, out)
            os.replace(self.path + ".tmp", self.path)
        self.known, self.dirty = merged, False

    def forget(self):
        count, self.known, self.dirty = len(self.known), {}, False
        if os.path.exists(self.path):
            os.unlink(self.path)
        return count


sums = Checksums(CACHE)


def inside(folder):
    path = os.path.realpath(os.path.join(ROOT, folder))
    if path != ROOT and not path.startswith(ROOT.rstrip("/") + "/"):
        raise ValueError("%r is outside of the root" % folder)
    if not os.path.isdir(path):
        raise ValueError("%r is not a folder below the root" % folder)
    return path


def walk(top):
    """Yields (relative name, path, stat) of the regular files below top; symbolic links are passed over."""
    count = 0
    for folder, folders, names in os.walk(top, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if not stat.S_ISREG(info.st_mode):
                continue
            count += 1
            if count > LIMIT:
                raise ValueError("more than %d files; choose a smaller folder" % LIMIT)
            yield os.path.relpath(path, top), path, info


def differ(how, a, b):
    (path_a, info_a), (path_b, info_b) = a, b
    if info_a.st_size != info_b.st_size:
        return "size"
    if how == "time" and abs(info_a.st_mtime - info_b.st_mtime) > 2:
        return "time"
    if how == "content" and sums.of(path_a, info_a) != sums.of(path_b, info_b):
        return "content"
    return ""


FOLDER = {"type": "string", "description": "Folder relative to the root, . for the root itself", "maxLength": 500, "examples": ["photos", "photos-copy"]}
OTHER = {**FOLDER, "examples": ["photos-copy"]}
READ = {"readOnlyHint": True, "openWorldHint": False}
server = Server("mirror-compare", "2.1.0")


@server.tool("list_folders", "Lists the folders directly below a folder of the root, with the number of entries in each.", optional={"folder": {**FOLDER, "examples": ["."]}}, annotations=READ)
def list_folders(folder="."):
    with os.scandir(inside(folder)) as entries:
        return [{"name": e.name, "entries": len(os.listdir(e.path))} for e in sorted(entries, key=lambda e: e.name) if e.is_dir(follow_symlinks=False)]


@server.tool("compare_folders", "Compares two folders file by file: by size only, by size and time, or by SHA-256 of the content. Changes no file of theirs; checksums are remembered in ~/.cache/mirror-compare.",
             {"left": FOLDER, "right": OTHER}, {"by": {"type": "string", "enum": ["size", "time", "content"], "default": "content"}}, annotations=READ)
def compare_folders(left, right, by="content"):
    if by not in ("size", "time", "content"):
        raise ValueError("by is size, time or content")
    one = {name: (path, info) for name, path, info in walk(inside(left))}
    two = {name: (path, info) for name, path, info in walk(inside(right))}
    changed = {name: why for name in sorted(one.keys() & two.keys()) if (why := differ(by, one[name], two[name]))}
    sums.save()
    return {"same": len(one.keys() & two.keys()) - len(changed), "changed": changed,
            "only left": sorted(one.keys() - two.keys()), "only right": sorted(two.keys() - one.keys())}


@server.tool("checksum_folder", "Lists the SHA-256 of every file in a folder, as sha256sum prints them. Checksums are remembered in ~/.cache/mirror-compare.", {"folder": FOLDER}, annotations=READ)
def checksum_folder(folder):
    lines = ["%s  %s" % (sums.of(path, info), name) for name, path, info in walk(inside(folder))]
    sums.save()
    return "\n".join(lines) or "The folder has no files."


@server.tool("find_copies", "Finds files with the same content in a folder. Checksums are remembered in ~/.cache/mirror-compare.", {"folder": {**FOLDER, "examples": ["."]}}, annotations=READ)
def find_copies(folder):
    sizes, groups = {}, {}
    for name, path, info in walk(inside(folder)):
        sizes.setdefault(info.st_size, []).append((name, path, info))
    for same in sizes.values():
        for name, path, info in same if len(same) > 1 else ():
            groups.setdefault(sums.of(path, info), []).append(name)
    sums.save()
    return [names for names in groups.values() if len(names) > 1]


@server.tool("forget_checksums", "Deletes the remembered checksums in ~/.cache/mirror-compare; the next comparison reads all files again.", annotations={"destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def forget_checksums():
    return "Forgot %d checksums." % sums.forget()


if not os.path.isdir(ROOT):
    sys.exit("mirror-compare: %s is no folder" % ROOT)
server.run()
