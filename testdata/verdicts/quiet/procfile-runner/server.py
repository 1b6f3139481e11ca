#!/usr/bin/env python3
"""procfile-runner: starts the processes of a Procfile during development, as foreman does, and shows their logs.

Logs are in .procfile-runner/NAME.log. All processes end with this server.
"""
import atexit
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

from mcp import Server

PROCFILE, DOTENV, LOGS = Path("Procfile"), Path(".env"), Path(".procfile-runner")
FIRST_PORT = int(os.environ.get("PORT") or 5000)
NAME = {"type": "string", "description": "Name of a process in the Procfile"}
started = {}

server = Server("procfile-runner", "0.9.0", instructions=(
    "Runs the commands of the Procfile in the working directory. They get the variables of .env and a PORT. Processes stop when the session ends."))


def entries():
    if not PROCFILE.is_file():
        raise FileNotFoundError("there is no Procfile in %s" % Path.cwd())
    lines = (re.match(r"([A-Za-z0-9_-]+):\s*(.+)$", line) for line in PROCFILE.read_text().splitlines())
    return {m[1]: m[2] for m in lines if m}


def dotenv():
    """Reads KEY=value lines; quotes as a shell understands them, without substitution."""
    values = {}
    for line in DOTENV.read_text(errors="replace").splitlines() if DOTENV.is_file() else []:
        match = re.match(r"\s*(?:export\s+)?([A-Za-z_]\w*)=(.*)$", line)
        if match:
            try:
                values[match[1]] = " ".join(shlex.split(match[2], comments=True))
            except ValueError:
                values[match[1]] = match[2].strip()
    return values


def rotate(log):
    LOGS.mkdir(exist_ok=True)
    (LOGS / ".gitignore").write_text("*\n")
    if log.is_file() and log.stat().st_size > 1 << 20:
        log.replace(log.with_suffix(".log.1"))


def end(name, wait=5.0):
    process = started.pop(name)[0]
    try:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(wait)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    except ProcessLookupError:
        process.wait()
    return process.returncode


@server.tool("status", "Lists the processes of the Procfile: command, whether it runs, its port and for how long.", annotations={"readOnlyHint": True, "openWorldHint": False})
def status():
    lines = []
    for name, command in entries().items():
        state = "not started"
        if name in started:
            process, since, port = started[name]
            code = process.poll()
            state = "runs as %d for %d s, PORT=%d" % (process.pid, time.monotonic() - since, port) if code is None else "ended with status %d" % code
        lines.append("%s: %s   (%s)" % (name, state, command))
    return "\n".join(lines) or "The Procfile names no process."


@server.tool("start", "Starts a process of the Procfile through the shell, with the variables of .env. Its output goes to .procfile-runner/NAME.log.", required={"name": NAME},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True})
def start(name):
    known = entries()
    if name not in known:
        raise KeyError("%s; the Procfile has %s" % (name, ", ".join(known) or "nothing"))
    if name in started and started[name][0].poll() is None:
        return "%s runs already." % name
    port = FIRST_PORT + 100 * list(known).index(name)
    log = LOGS / (name + ".log")
    rotate(log)
    with log.open("ab") as out:
        out.write(("--- %s %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), known[name])).encode())
        out.flush()
        # what .env says does not replace what the user's shell says
        process = subprocess.Popen(["sh", "-c", known[name]], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                                   env={**dotenv(), **os.environ, "PORT": str(port), "PYTHONUNBUFFERED": "1"})
    started[name] = (process, time.monotonic(), port)
    time.sleep(0.3)
    code = process.poll()
    return "%s runs as %d, PORT=%d." % (name, process.pid, port) if code is None else "%s ended at once with status %d:\n%s" % (name, code, logs(name, 10))


@server.tool("stop", "Stops a process that was started here, with its children.", required={"name": NAME}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def stop(name):
    if name not in started:
        return "%s was not started." % name
    return "%s ended with status %d." % (name, end(name))


@server.tool("logs", "Shows the last lines of the log of a process, or of those that contain a text.", required={"name": NAME},
             optional={"lines": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 50}, "containing": {"type": "string"}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def logs(name, lines=50, containing=""):
    log = LOGS / (name + ".log")
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name) or not log.is_file():
        return "There is no log of %s." % name
    with log.open("rb") as f:
        f.seek(max(0, log.stat().st_size - (1 << 18)))
        found = [line for line in f.read().decode(errors="replace").splitlines() if containing.lower() in line.lower()]
    return "\n".join(found[-min(max(lines, 1), 1000):]) or "Nothing."


atexit.register(lambda: [end(name, 2.0) for name in list(started)])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
server.run()
