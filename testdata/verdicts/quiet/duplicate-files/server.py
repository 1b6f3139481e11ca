"""duplicate-files: finds files of the same content below the working directory.

Files of one size are hashed; hashes are kept in ~/.cache/duplicate-files so that a second search is quick.
"""
import filecmp
import hashlib
import json
import os
import sys
import tempfile
from collections import defaultdict

ROOT = os.path.realpath(os.getcwd())
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "duplicate-files", "hashes.json")
SKIPPED = {".git", "node_modules", "__pycache__", ".venv"}
LIMIT = 20000


def inside(path):
    real = os.path.realpath(os.path.join(ROOT, path))
    if real != ROOT and not real.startswith(ROOT + os.sep):
        raise ValueError("%s is outside of the working directory" % path)
    return real


def load_cache():
    try:
        with open(CACHE) as f:
            return dict(json.load(f))
    except (OSError, ValueError, TypeError):
        return {}


def save_cache(cache):
    os.makedirs(os.path.dirname(CACHE), exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(CACHE), delete=False) as f:
        json.dump({path: entry for path, entry in cache.items() if os.path.exists(path)}, f)
    os.replace(f.name, CACHE)


def digest(path, stat, cache):
    entry = cache.get(path)
    if entry and entry[:2] == [stat.st_size, stat.st_mtime_ns]:
        return entry[2]
    h = hashlib.blake2b(digest_size=20)
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            h.update(chunk)
    cache[path] = [stat.st_size, stat.st_mtime_ns, h.hexdigest()]
    return h.hexdigest()


def find_duplicates(folder=".", min_bytes=1):
    by_size, seen = defaultdict(list), 0
    for here, folders, files in os.walk(inside(folder)):
        folders[:] = [d for d in folders if d not in SKIPPED]
        for name in files:
            path = os.path.join(here, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            seen += 1
            if seen > LIMIT:
                raise ValueError("more than %d files; choose a smaller folder" % LIMIT)
            stat = os.stat(path)
            if stat.st_size >= max(1, min_bytes):
                by_size[stat.st_size].append((path, stat))
    cache, groups = load_cache(), defaultdict(list)
    for files in by_size.values():
        for path, stat in files if len(files) > 1 else ():
            try:
                groups[digest(path, stat, cache)].append((path, stat))
            except PermissionError:
                continue
    save_cache(cache)
    # hard links of one file take no room
    groups = [g for g in groups.values() if len({s.st_ino for _, s in g}) > 1]
    wasted = sum(g[0][1].st_size * (len({s.st_ino for _, s in g}) - 1) for g in groups)
    lines = ["%d bytes each:\n%s" % (g[0][1].st_size, "\n".join("  " + os.path.relpath(p, ROOT) for p, _ in g)) for g in groups]
    return "\n".join(lines + ["%d groups in %d files, %d bytes could be saved." % (len(groups), seen, wasted)])


def link_duplicate(keep, duplicate):
    kept, other = inside(keep), inside(duplicate)
    if os.path.samefile(kept, other):
        return "They are one file already."
    if not os.path.isfile(kept) or not filecmp.cmp(kept, other, shallow=False):
        raise ValueError("the two files differ; nothing was changed")
    temporary = other + ".linking"
    os.link(kept, temporary)
    os.replace(temporary, other)
    return "%s is now a hard link to %s." % (duplicate, keep)


TOOLS = {"find_duplicates": find_duplicates, "link_duplicate": link_duplicate}
DECLARED = [
    {"name": "find_duplicates", "description": "Finds files with the same content below the working directory. Reads the files; keeps their hashes in ~/.cache/duplicate-files.",
     "inputSchema": {"type": "object", "properties": {"folder": {"type": "string", "default": "."}, "min_bytes": {"type": "integer", "minimum": 1, "default": 1}}},
     "annotations": {"title": "Find duplicates", "destructiveHint": False, "openWorldHint": False}},
    {"name": "link_duplicate", "description": "Replaces a duplicate by a hard link to the file that is kept, if both have the same content. The duplicate's own time and mode are lost.",
     "inputSchema": {"type": "object", "properties": {"keep": {"type": "string"}, "duplicate": {"type": "string"}}, "required": ["keep", "duplicate"]},
     "annotations": {"title": "Replace by a hard link", "destructiveHint": True, "openWorldHint": False}},
]


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion") or "2025-03-26", "capabilities": {"tools": {}}, "serverInfo": {"name": "duplicate-files", "version": "1.1.0"}}
    if method == "tools/list":
        return {"tools": DECLARED}
    if method == "tools/call":
        try:
            return {"content": [{"type": "text", "text": TOOLS[params["name"]](**params.get("arguments") or {})}]}
        except KeyError:
            return {"content": [{"type": "text", "text": "Unknown tool."}], "isError": True}
        except (OSError, TypeError, ValueError) as e:
            return {"content": [{"type": "text", "text": str(e)}], "isError": True}
    return {} if method == "ping" else None


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or message.get("id") is None:
        continue
    params = message.get("params")
    result = answer(message.get("method"), params if isinstance(params, dict) else {})
    outcome = {"error": {"code": -32601, "message": "method not found"}} if result is None else {"result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)
