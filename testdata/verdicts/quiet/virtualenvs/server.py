#!/usr/bin/env python3
"""virtualenvs: Python virtual environments in one folder, as virtualenvwrapper keeps them (WORKON_HOME, ~/.virtualenvs)."""
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mcp import Server

STORE = Path(os.environ.get("WORKON_HOME") or Path.home() / ".virtualenvs").expanduser()
NAME = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]*$", "description": "Name of an environment"}
server = Server("virtualenvs", "0.7.0", instructions="Environments are in $WORKON_HOME, or else in ~/.virtualenvs. Nothing is installed from the network.")


def place(name, there=True):
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}", name):
        raise ValueError("%r is no name of an environment" % name)
    path = STORE / name
    if there and not (path / "pyvenv.cfg").is_file():
        raise FileNotFoundError("%s is no environment; there are: %s" % (path, ", ".join(names()) or "none"))
    return path


def names():
    return sorted(p.parent.name for p in STORE.glob("*/pyvenv.cfg"))


def config(path):
    pairs = (line.partition("=") for line in (path / "pyvenv.cfg").read_text(errors="replace").splitlines())
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def tree_size(path):
    total = 0
    for here, _, files in os.walk(path):
        for name in files:
            try:
                total += os.lstat(os.path.join(here, name)).st_size
            except OSError:
                pass
    return total


def site_packages(path):
    return [str(p) for p in path.glob("lib/python*/site-packages")]


@server.tool("list_environments", "Lists the virtual environments with their Python version, size and age.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_environments():
    lines = []
    for name in names():
        path = STORE / name
        settings = config(path)
        days = int((time.time() - (path / "pyvenv.cfg").stat().st_mtime) / 86400)
        broken = "" if (path / "bin/python").exists() else "  its Python is gone"
        lines.append("%s  Python %s  %.1f MB  %d days old%s" % (name, settings.get("version") or settings.get("version_info", "?"), tree_size(path) / 1e6, days, broken))
    return "\n".join(lines) or "No environments in %s." % STORE


@server.tool("list_packages", "Lists the packages of an environment. Reads their metadata; runs nothing in the environment.", required={"name": NAME},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def list_packages(name):
    found = {(d.metadata["Name"] or "?", d.version) for d in importlib.metadata.distributions(path=site_packages(place(name)))}
    return "\n".join("%s==%s" % pair for pair in sorted(found, key=lambda p: p[0].lower())) or "No packages."


@server.tool("compare_environments", "Says which packages two environments do not have in common.", required={"first": NAME, "second": NAME},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def compare_environments(first, second):
    a, b = (dict(line.split("==", 1) for line in list_packages(n).splitlines() if "==" in line) for n in (first, second))
    lines = ["%s: %s, %s" % (p, a.get(p, "not there"), b.get(p, "not there")) for p in sorted(a.keys() | b.keys(), key=str.lower) if a.get(p) != b.get(p)]
    return "\n".join(lines) or "They have the same packages."


@server.tool("create_environment", "Creates a virtual environment with `python -m venv`. pip comes from Python's own bundle; without pip it is quicker.",
             required={"name": NAME}, optional={"pip": {"type": "boolean", "default": True}}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def create_environment(name, pip=True):
    path = place(name, there=False)
    if path.exists():
        return "%s exists already." % path
    STORE.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "venv", "--prompt", name, str(path)] + ([] if pip else ["--without-pip"])
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL)
    if done.returncode:
        shutil.rmtree(path, ignore_errors=True)
        raise RuntimeError((done.stderr or done.stdout).strip()[-2000:])
    return "Created. Use it with: source %s/bin/activate" % path


@server.tool("remove_environment", "Deletes a virtual environment with everything in it. The name has to be given twice.",
             required={"name": NAME, "confirm": {"type": "string", "description": "The name once more"}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": False, "openWorldHint": False})
def remove_environment(name, confirm):
    path = place(name)
    if confirm != name:
        return "confirm has to be %s. Nothing was deleted." % name
    if path.is_symlink():
        path.unlink()
        return "%s was a link; the link is gone, the folder it led to is not." % name
    shutil.rmtree(path)
    return "Deleted %s." % path


server.run()
