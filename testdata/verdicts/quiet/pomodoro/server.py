#!/usr/bin/env python3
"""Pomodoro timer. One instance per user keeps the timer: a lock and a pid file say which, both go when it ends."""
import atexit
import fcntl
import json
import os
import signal
import sys
import time

RUN = os.path.join(os.environ.get("XDG_RUNTIME_DIR") or "/tmp", "pomodoro-mcp-%d" % os.getuid())
state = {"ends": None, "kind": None, "done": 0}
owner = False


def claim():
    global owner
    try:
        os.makedirs(RUN, mode=0o700, exist_ok=True)
        if os.stat(RUN).st_uid != os.getuid():
            raise OSError("not ours")
        lock = os.open(os.path.join(RUN, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        print("pomodoro: another instance runs, or no place for a lock (%s)" % error, file=sys.stderr)
        return
    owner = True
    with open(os.path.join(RUN, "pid"), "w") as file:
        file.write("%d\n" % os.getpid())
    atexit.register(release)


def release():
    for name in ("pid", "lock"):
        try:
            os.unlink(os.path.join(RUN, name))
        except FileNotFoundError:
            pass
    try:
        os.rmdir(RUN)
    except OSError:
        pass


def start(args):
    minutes = args.get("minutes", 25)
    if not isinstance(minutes, (int, float)) or isinstance(minutes, bool) or not 0 < minutes <= 180:
        return "A pomodoro takes up to 180 minutes."
    kind = "break" if args.get("kind") == "break" else "work"
    state.update(ends=time.monotonic() + minutes * 60, kind=kind)
    return "%s for %g minutes. Go!" % (kind.capitalize(), minutes)


def status(_):
    if state["ends"] is None:
        return "No timer runs; %d pomodoros done in this session." % state["done"]
    left = state["ends"] - time.monotonic()
    if left > 0:
        return "%s: %d:%02d left." % (state["kind"], left // 60, left % 60)
    state["done"] += state["kind"] == "work"
    state["ends"] = None
    return "Time is up! %d pomodoros done." % state["done"]


def instance(_):
    return json.dumps({"pid": os.getpid(), "keeps_the_timer": owner, "lock": RUN if owner else None})


TOOLS = {
    "start_timer": (start, "Starts a timer in this process, replacing one that runs.",
                    {"minutes": {"type": "number", "exclusiveMinimum": 0, "maximum": 180}, "kind": {"enum": ["work", "break"]}}),
    "timer_status": (status, "Says how much of the timer is left.", {}),
    "instance": (instance, "Says which process keeps the timer and where its lock and pid file are.", {}),
}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2024-11-05"), "capabilities": {"tools": {}}, "serverInfo": {"name": "pomodoro", "version": "1.1"},
                "instructions": "A lock and a pid file are kept in $XDG_RUNTIME_DIR (or /tmp) while the server runs."}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p}, "annotations": {"openWorldHint": False, "destructiveHint": False}}
                          for n, (_, d, p) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        return {"content": [{"type": "text", "text": TOOLS[params["name"]][0](params.get("arguments") or {})}]}
    return None


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    claim()
    while True:
        line = sys.stdin.readline()
        if not line:
            break
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and request.get("id") is not None:
            result = answer(request.get("method"), request.get("params") or {})
            body = {"result": result} if result is not None else {"error": {"code": -32601, "message": "not here"}}
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **body}), flush=True)


main()
