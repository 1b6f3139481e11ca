#!/usr/bin/env python3
"""task-runner: lets an assistant start the few commands that you allow, and nothing else.

The commands stand in ~/.config/task-runner/tasks.toml as lists of words:

    [tasks.disk]
    about = "Free space of the disks"
    command = ["df", "-h"]
    seconds = 10

The file is read again at each call. At the first start an example is written. What a task prints goes to
~/.local/state/task-runner/NAME.log, which is cut to its last 200 kB.
"""
import datetime
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
import tomllib

from mcp import Server, STRING

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
HOME = pathlib.Path.home()
CONFIG = pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or HOME / ".config") / "task-runner" / "tasks.toml"
STATE = pathlib.Path(os.environ.get("XDG_STATE_HOME") or HOME / ".local" / "state") / "task-runner"
KEEP, SHOW = 200_000, 20_000
EXAMPLE = '''# Tasks that an assistant may start. A command is a list of words; there is no shell.
[tasks.today]
about = "The date of this machine"
command = ["date", "+%A %Y-%m-%d"]

[tasks.disk]
about = "Free space of the disks"
command = ["df", "-h", "/"]
seconds = 10

[tasks.kernel]
about = "Name and version of the kernel"
command = ["uname", "-sr"]
'''
runs = []


def tasks():
    try:
        with open(CONFIG, "rb") as file:
            listed = tomllib.load(file).get("tasks", {})
    except FileNotFoundError:
        return {}
    except tomllib.TOMLDecodeError as error:
        raise ValueError("%s: %s" % (CONFIG, error)) from None
    good = {}
    for name, task in listed.items() if isinstance(listed, dict) else ():
        command = task.get("command") if isinstance(task, dict) else None
        if re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,39}", name) and isinstance(command, list) and command and all(isinstance(word, str) for word in command):
            good[name] = {"about": str(task.get("about", "")), "command": command, "seconds": min(max(int(task.get("seconds", 30)), 1), 300), "folder": str(task.get("folder", HOME))}
    return good


def find_task(name):
    known = tasks()
    if name not in known:
        raise ValueError("there is no task %r in %s; there are: %s" % (name, CONFIG, ", ".join(known) or "none"))
    return known[name]


def append(name, text):
    path = STATE / (name + ".log")
    data = (path.read_bytes() if path.exists() else b"") + text.encode("utf-8", "replace")
    if len(data) > KEEP:
        data = data[-KEEP:].partition(b"\n")[2]
    fresh = path.with_suffix(".new")
    fresh.write_bytes(data)
    os.replace(fresh, path)


def environment():
    return {key: os.environ[key] for key in ("HOME", "PATH", "LANG", "LC_ALL", "TZ", "USER", "XDG_RUNTIME_DIR") if key in os.environ}


def run(name, chosen):
    begun = time.monotonic()
    process = subprocess.Popen(chosen["command"], cwd=os.path.expanduser(chosen["folder"]), env=environment(), start_new_session=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        out, _ = process.communicate(timeout=chosen["seconds"])
        end = "exit %d" % process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # with its children
        out, _ = process.communicate()
        end = "stopped after %d s" % chosen["seconds"]
    took = round(time.monotonic() - begun, 2)
    text = out.decode("utf-8", "replace")
    now = datetime.datetime.now().isoformat(" ", "seconds")
    append(name, "--- %s %s %s\n%s%s" % (now, end, took, text, "" if text.endswith("\n") else "\n"))
    runs.append({"task": name, "time": now, "end": end, "seconds": took})
    del runs[:-50]
    return {"end": end, "seconds": took, "output": text[-SHOW:]}


NAME = {**STRING, "pattern": "^[a-z0-9][a-z0-9_-]{0,39}$", "description": "Name of a task in tasks.toml", "examples": ["today", "disk", "kernel"]}
server = Server("task-runner", "0.9.0", "Tasks are read from ~/.config/task-runner/tasks.toml, an example of which is written at the first start. Only the user edits that file.")


@server.tool("list_tasks", "Lists the tasks of ~/.config/task-runner/tasks.toml with the commands that they would start.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_tasks():
    return [{"task": name, **{key: found[key] for key in ("about", "command", "seconds")}} for name, found in tasks().items()]


@server.tool("run_task", "Starts the command that tasks.toml gives for one task and returns its output, which is also appended to ~/.local/state/task-runner/NAME.log. What the command does is up to who wrote the file. It gets no arguments from here, and is stopped with its children when its time is over.",
             {"task": NAME}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True})
def run_task(task):
    return run(task, find_task(task))


@server.tool("task_log", "Shows the last lines of the log of one task in ~/.local/state/task-runner.", {"task": NAME}, {"lines": {"type": "integer", "minimum": 1, "maximum": 500, "default": 40}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def task_log(task, lines=40):
    find_task(task)
    if not 1 <= lines <= 500:
        raise ValueError("lines is a number from 1 to 500")
    path = STATE / (task + ".log")
    return "\n".join(path.read_text("utf-8", "replace").splitlines()[-lines:]) if path.exists() else "This task has not been run yet."


@server.tool("recent_runs", "Lists the runs of this session: task, time, how it ended and how long it took.", annotations={"readOnlyHint": True, "openWorldHint": False})
def recent_runs():
    return runs or "Nothing was run in this session."


STATE.mkdir(parents=True, exist_ok=True)
if not CONFIG.exists():
    CONFIG.parent.mkdir(parents=True, exist_ok=True)
    CONFIG.write_text(EXAMPLE, "utf-8")
server.run()
