"""Backs a project folder (the first argument) up to ~/.local/share/folder-backup, without what looks like credentials."""
import fnmatch
import os
import pathlib
import re
import sys
import tarfile
import time

from mcp import Server, STRING

source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
store = pathlib.Path(os.environ.get("XDG_DATA_HOME") or pathlib.Path.home() / ".local/share") / "folder-backup"
LEFT_OUT = [".env", ".env.*", "*.pem", "*.key", "id_rsa*", "id_ed25519*", ".git", "node_modules", "__pycache__", ".venv", "restored-*"]
NAME = re.compile(r"backup-\d{8}-\d{6}-\d{3}\.tar\.gz")

server = Server("folder-backup", "1.5.1", instructions="Backs up %s to ~/.local/share/folder-backup. Left out: %s." % (source, ", ".join(LEFT_OUT)))


def wanted(member):
    base = os.path.basename(member.name)
    if any(fnmatch.fnmatch(base, pattern) for pattern in LEFT_OUT) or not (member.isfile() or member.isdir()):
        return None
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def archive(name):
    path = store / name
    return path if NAME.fullmatch(name) and path.is_file() else None


@server.tool("back_up", "Writes the project folder as a tar.gz archive to ~/.local/share/folder-backup. Credentials, .git and installed packages are left out.",
             annotations={"destructiveHint": False, "openWorldHint": False})
def back_up():
    store.mkdir(parents=True, exist_ok=True, mode=0o700)
    source.mkdir(parents=True, exist_ok=True)
    now = time.time()
    name = "backup-%s-%03d.tar.gz" % (time.strftime("%Y%m%d-%H%M%S", time.gmtime(now)), now % 1 * 1000)
    temporary = store / ("." + name)
    with tarfile.open(temporary, "w:gz") as tar:
        tar.add(source, arcname=".", filter=wanted)
        count = sum(m.isfile() for m in tar.getmembers())
    temporary.rename(store / name)
    return "%s: %d files, %d bytes" % (name, count, (store / name).stat().st_size)


@server.tool("list_backups", "Lists the backups, newest first.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_backups():
    names = sorted((p.name for p in store.glob("backup-*.tar.gz")), reverse=True) if store.is_dir() else []
    return "\n".join(names[:50]) or "There are no backups yet."


@server.tool("show_backup", "Lists the files in a backup.", {"name": {"type": "string", "description": "from list_backups"}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def show_backup(name):
    path = archive(name)
    if path is None:
        return "There is no backup of this name."
    with tarfile.open(path) as tar:
        return "\n".join("%9d %s" % (m.size, m.name) for m in tar.getmembers() if m.isfile()) or "It holds no files."


@server.tool("restore_backup", "Unpacks a backup into a new folder, restored-<time>, inside the project folder. Nothing that is there is replaced.",
             {"name": STRING}, annotations={"destructiveHint": False, "openWorldHint": False})
def restore_backup(name):
    path = archive(name)
    if path is None:
        return "There is no backup of this name."
    target = source / ("restored-%d" % time.time_ns())
    target.mkdir(parents=True)
    with tarfile.open(path) as tar:
        tar.extractall(target, filter="data")
    return "Restored to %s." % target.name


server.run()
