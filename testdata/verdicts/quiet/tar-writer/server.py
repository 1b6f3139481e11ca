#!/usr/bin/env python3
"""tar-writer: packs a folder into a .tar.gz that is the same byte for byte each time, as release tarballs should be."""
import fnmatch
import gzip
import hashlib
import os
import tarfile
import tempfile
from pathlib import Path

from mcp import STRING, Server

ROOT = Path.cwd().resolve()
LEFT_OUT = [".git", ".svn", "node_modules", "__pycache__", ".venv", "*.pyc", ".env", ".env.*", ".DS_Store"]
EPOCH = int(os.environ.get("SOURCE_DATE_EPOCH") or 0)

server = Server("tar-writer", "0.3.0", instructions="All paths are below the working directory. Archives are never unpacked.")


def below(name, kind=None):
    path = (ROOT / name).resolve()
    if path != ROOT and ROOT not in path.parents:
        raise ValueError("%s is outside of %s" % (name, ROOT))
    if kind == "folder" and not path.is_dir():
        raise ValueError("%s is not a folder" % name)
    if kind == "file" and not path.is_file():
        raise ValueError("%s is not a file" % name)
    return path


def ignored(folder):
    own = folder / ".tarignore"
    lines = own.read_text().splitlines() if own.is_file() else []
    return LEFT_OUT + [line.strip().rstrip("/") for line in lines if line.strip() and not line.startswith("#")]


def members(folder, patterns):
    for here, folders, files in os.walk(folder):
        keep = lambda n: not any(fnmatch.fnmatch(n, p) or fnmatch.fnmatch(os.path.relpath(os.path.join(here, n), folder), p) for p in patterns)
        folders[:] = sorted(filter(keep, folders))
        for name in sorted(filter(keep, files)):
            yield Path(here, name)


def plain(info):
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = EPOCH
    info.mode = 0o755 if info.mode & 0o100 else 0o644
    return info


@server.tool("pack_folder", "Packs a folder into a new .tar.gz. Leaves out .git, node_modules, __pycache__, .venv, .env files and what the folder's "
             ".tarignore lists. Times and owners are not kept, so that the same files give the same archive.",
             required={"folder": STRING, "archive": {"type": "string", "pattern": r"\.(tar\.gz|tgz)$", "description": "Must not exist yet"}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def pack_folder(folder, archive):
    source, target = below(folder, "folder"), below(archive)
    if not archive.endswith((".tar.gz", ".tgz")):
        raise ValueError("the archive's name ends in .tar.gz or .tgz")
    if target.exists():
        raise FileExistsError("%s exists already" % archive)
    files = [p for p in members(source, ignored(source)) if p.is_file() or p.is_symlink()]
    top = source.name if source != ROOT else target.name.split(".")[0]
    handle, temporary = tempfile.mkstemp(prefix=".tar-writer-", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as raw:
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=EPOCH) as packed, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar:
                for path in files:
                    if path.name != os.path.basename(temporary):
                        tar.add(path, arcname="%s/%s" % (top, path.relative_to(source)), recursive=False, filter=plain)
            os.fchmod(raw.fileno(), 0o644)
        os.link(temporary, target)  # unlike a rename, this fails if somebody was quicker
    finally:
        os.unlink(temporary)
    return "%s: %d files, %d bytes" % (archive, len(files), target.stat().st_size)


@server.tool("list_archive", "Lists the members of a tar archive with their sizes, and marks names that lead out of the folder.", required={"archive": STRING},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def list_archive(archive):
    lines = []
    with tarfile.open(below(archive, "file"), "r:*") as tar:
        for member in tar:
            mark = "  ! leads out" if member.name.startswith("/") or ".." in member.name.split("/") else ""
            lines.append("%10d %s%s%s" % (member.size, member.name, " -> " + member.linkname if member.linkname else "", mark))
            if len(lines) >= 1000:
                lines.append("...")
                break
    return "\n".join(lines) or "The archive is empty."


@server.tool("write_checksum", "Writes ARCHIVE.sha256 beside an archive, in the format that sha256sum -c reads. An older one is replaced.", required={"archive": STRING},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def write_checksum(archive):
    path = below(archive, "file")
    digest = hashlib.sha256()
    with path.open("rb") as f:
        while block := f.read(1 << 20):
            digest.update(block)
    line = "%s  %s\n" % (digest.hexdigest(), path.name)
    target = below(str(path) + ".sha256")
    target.write_text(line)
    return line


server.run()
