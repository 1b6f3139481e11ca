"""downloads-sorter: moves what lies in ~/Downloads into folders there, by the kind of file.

Rules come from ~/.config/downloads-sorter/rules.ini, for example

    [rules]
    Pictures = *.jpg *.jpeg *.png *.webp
    Invoices = *invoice*.pdf *rechnung*.pdf

    [options]
    wait_seconds = 60
"""
import configparser
import fnmatch
import os
import shutil
import time
from pathlib import Path

from mcp import Server

DOWNLOADS = Path.home() / "Downloads"
RULES = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "downloads-sorter" / "rules.ini"
LOG = Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "downloads-sorter" / "moves.log"
UNFINISHED = ("*.part", "*.crdownload", "*.download", "*.tmp", ".*")
DEFAULT = """
[rules]
Pictures = *.jpg *.jpeg *.png *.gif *.webp *.svg *.heic
Documents = *.pdf *.docx *.odt *.txt *.md *.epub
Tables = *.csv *.xlsx *.ods
Archives = *.zip *.tar *.tar.* *.tgz *.7z *.rar
Music = *.mp3 *.flac *.ogg *.m4a
Videos = *.mp4 *.mkv *.webm *.mov
Programs = *.deb *.rpm *.AppImage *.dmg *.exe *.msi
[options]
wait_seconds = 60
"""

server = Server("downloads-sorter", "1.0.2", instructions=(
    "Works in ~/Downloads alone. Rules are read from ~/.config/downloads-sorter/rules.ini; without the file there are built-in ones. "
    "Moves are logged in ~/.local/state/downloads-sorter/moves.log."))


def settings():
    config = configparser.ConfigParser(interpolation=None)
    config.optionxform = str  # folder names keep their case
    config.read_string(DEFAULT)
    if RULES.is_file():
        own = configparser.ConfigParser(interpolation=None)
        own.optionxform = str
        own.read(RULES, encoding="utf-8")
        if own.has_section("rules"):
            config.remove_section("rules")
        config.read_dict(own)
    bad = [name for name in config["rules"] if "/" in name or name.startswith(".")]
    if bad:
        raise ValueError("%s: %s cannot be a folder of ~/Downloads" % (RULES, bad[0]))
    return config["rules"], config["options"].getint("wait_seconds")


def planned():
    rules, wait = settings()
    moves = []
    for path in sorted(DOWNLOADS.iterdir()) if DOWNLOADS.is_dir() else []:
        if path.is_symlink() or not path.is_file() or any(fnmatch.fnmatch(path.name, p) for p in UNFINISHED):
            continue
        if time.time() - path.stat().st_mtime < wait:
            continue
        for folder, patterns in rules.items():
            if any(fnmatch.fnmatch(path.name.lower(), p.lower()) for p in patterns.split()):
                moves.append((path, DOWNLOADS / folder))
                break
    return moves


def free_name(folder, name):
    target, n = folder / name, 1
    stem, suffix = os.path.splitext(name)
    while os.path.lexists(target):
        n += 1
        target = folder / ("%s (%d)%s" % (stem, n, suffix))
    return target


@server.tool("show_plan", "Shows where the files in ~/Downloads would be moved.", annotations={"readOnlyHint": True, "openWorldHint": False})
def show_plan():
    return "\n".join("%s -> %s/" % (p.name, f.name) for p, f in planned()) or "Nothing to sort in %s." % DOWNLOADS


@server.tool("sort_downloads", "Moves the files in ~/Downloads into its folders by the rules. Files that are younger than a minute or still "
             "downloading stay. No file is replaced: a name that is taken gets a number.", annotations={"destructiveHint": False, "openWorldHint": False})
def sort_downloads():
    moves = planned()
    if not moves:
        return "Nothing to sort in %s." % DOWNLOADS
    LOG.parent.mkdir(parents=True, exist_ok=True)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S")
    with LOG.open("a", encoding="utf-8") as log:
        for path, folder in moves:
            folder.mkdir(exist_ok=True)
            target = free_name(folder, path.name)
            shutil.move(path, target)
            log.write("%s\t%s\t%s\n" % (stamp, path.name, target.relative_to(DOWNLOADS)))
    return "Moved %d files." % len(moves)


@server.tool("undo_sort", "Moves the files of the last sort_downloads back, those that are still where they were put, and forgets that sort in the log.")
def undo_sort():
    if not LOG.is_file():
        return "The log %s is not there." % LOG
    lines = [line.split("\t") for line in LOG.read_text(encoding="utf-8").splitlines() if line.count("\t") == 2]
    if not lines:
        return "There is nothing to undo."
    last = [line for line in lines if line[0] == lines[-1][0]]
    back = 0
    for _, name, now in last:
        source, target = DOWNLOADS / now, DOWNLOADS / Path(name).name
        if source.resolve().parent.parent == DOWNLOADS.resolve() and source.is_file() and not os.path.lexists(target):
            shutil.move(source, target)
            back += 1
    temporary = LOG.with_suffix(".new")
    temporary.write_text("".join("\t".join(line) + "\n" for line in lines[:len(lines) - len(last)]), encoding="utf-8")
    os.replace(temporary, LOG)
    return "%d of %d files are back." % (back, len(last))


server.run()
