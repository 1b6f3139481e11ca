#!/usr/bin/env python3
"""dpkg-browser: which Debian packages are installed, what they contain and who owns a file. It only ever runs dpkg-query."""
import asyncio
import os
import re
import shutil
import sys
from functools import lru_cache

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]{1,99}(:[a-z0-9-]{2,20})?")
PATTERN = re.compile(r"[a-z0-9*?][a-z0-9+.*?-]{0,99}")
SECONDS = 20
FIELDS = "${Package}\t${Version}\t${Installed-Size}\t${db:Status-Abbrev}\t${binary:Summary}\n"


class DpkgError(Exception):
    pass


@lru_cache(maxsize=1)
def program():
    found = shutil.which("dpkg-query", path="/usr/bin:/bin")
    if not found:
        raise DpkgError("dpkg-query is not installed; this is not a Debian system")
    return found


async def query(*arguments):
    """Runs dpkg-query with a list of arguments, no shell, and a plain environment."""
    process = await asyncio.create_subprocess_exec(
        program(), *arguments, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "DPKG_COLORS": "never"})
    try:
        out, errors = await asyncio.wait_for(process.communicate(), SECONDS)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
        raise DpkgError("dpkg-query took longer than %d seconds" % SECONDS) from None
    if process.returncode:
        message = errors.decode("utf-8", "replace").strip()
        raise DpkgError(message.splitlines()[0] if message else "dpkg-query ended with %d" % process.returncode)
    return out.decode("utf-8", "replace")


def package(name):
    if not PACKAGE.fullmatch(name):
        raise DpkgError("%r is no name of a Debian package" % name[:60])
    return name


def between(name, value, low, high):
    if not low <= value <= high:
        raise DpkgError("%s is a number from %d to %d" % (name, low, high))
    return value


async def rows(*patterns):
    table = []
    for line in (await query("-W", "-f", FIELDS, "--", *patterns)).splitlines():
        name, version, size, status, summary = (line.split("\t") + [""] * 5)[:5]
        if status.startswith("ii"):
            table.append({"name": name, "version": version, "kB": int(size) if size.isdigit() else 0, "summary": summary})
    return table


NAME = {"type": "string", "pattern": "^[a-z0-9][a-z0-9+.-]{1,99}(:[a-z0-9-]{2,20})?$", "description": "Name of a package", "examples": ["bash", "coreutils"]}
LOCAL = {"annotations": {"readOnlyHint": True, "openWorldHint": False}}
server = Server("dpkg-browser", "1.3.0", "Every tool runs the program dpkg-query of this machine, which reads the package database. Nothing is installed, removed or downloaded.")


@server.tool("find_packages", "Lists installed packages whose names match a pattern with * and ?, by running dpkg-query -W.",
             {"pattern": {"type": "string", "pattern": "^[a-z0-9*?][a-z0-9+.*?-]{0,99}$", "examples": ["lib*ssl*", "python3*"]}}, {"limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 50}}, **LOCAL)
def find_packages(pattern, limit=50):
    if not PATTERN.fullmatch(pattern):
        raise DpkgError("a pattern has small letters, digits, + . - and the wildcards * and ?")
    found = asyncio.run(rows(pattern))
    return {"count": len(found), "packages": found[:between("limit", limit, 1, 500)]}


@server.tool("package_info", "Shows version, section, maintainer, homepage, dependencies and description of one installed package, by running dpkg-query -s.", {"name": NAME}, **LOCAL)
def package_info(name):
    record, last = {}, ""
    for line in asyncio.run(query("-s", "--", package(name))).splitlines():
        if line.startswith(" ") and last:
            record[last] += "\n" + line[1:]
        elif ": " in line or line.endswith(":"):
            last, _, value = line.partition(":")
            record[last] = value.strip()
    wanted = ("Package", "Status", "Version", "Section", "Installed-Size", "Maintainer", "Homepage", "Depends", "Description")
    return {key: record[key] for key in wanted if key in record}


@server.tool("package_files", "Lists the files that an installed package put on this machine, by running dpkg-query -L. Names only; the files are not opened.",
             {"name": NAME}, {"containing": {"type": "string", "maxLength": 100, "description": "Only paths with this text", "examples": ["/bin/"]}}, **LOCAL)
def package_files(name, containing=""):
    paths = [line for line in asyncio.run(query("-L", "--", package(name))).splitlines() if line.startswith("/") and line != "/."]
    paths = [path for path in paths if containing in path]
    return {"count": len(paths), "paths": paths[:400]}


@server.tool("which_package", "Says which installed package owns a file, by running dpkg-query -S. The file itself is not opened.",
             {"path": {"type": "string", "pattern": "^/", "description": "Absolute path without wildcards", "examples": ["/usr/bin/env", "/bin/ls"]}}, **LOCAL)
def which_package(path):
    if not path.startswith("/") or len(path) > 400 or re.search(r"[*?\[\]\\\x00-\x1f]", path):
        raise DpkgError("path is an absolute path without wildcards")
    asked = [os.path.normpath(path)]
    if re.match(r"/usr/(bin|sbin|lib)/", asked[0]):  # packages from before the merge of /usr
        asked.append(asked[0][4:])
    for candidate in asked:
        try:
            out = asyncio.run(query("-S", "--", candidate))
        except DpkgError as error:
            last = error
            continue
        return [{"package": line.rpartition(": ")[0], "path": line.rpartition(": ")[2]} for line in out.splitlines()]
    raise last


@server.tool("largest_packages", "Lists the installed packages that take the most space, by running dpkg-query -W.", optional={"count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}}, **LOCAL)
def largest_packages(count=10):
    between("count", count, 1, 100)
    table = asyncio.run(rows())
    return {"installed": len(table), "MB in all": sum(row["kB"] for row in table) // 1024, "largest": sorted(table, key=lambda row: -row["kB"])[:count]}


server.run()
