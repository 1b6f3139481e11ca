"""Named timers. Ends by itself when the client that started it is gone without closing the pipe."""
import os
import sys
import threading
import time

from mcp import Server, STRING

sys.stdout.reconfigure(errors="replace")  # names of timers may be any text
server = Server("kitchen-timers", "1.2.0")
timers = {}
LOCAL = {"openWorldHint": False}


def watch_parent(parent, every=2.0):
    while True:
        time.sleep(every)
        if os.getppid() != parent:
            print("kitchen-timers: the client is gone, goodbye", file=sys.stderr)
            os._exit(0)


@server.tool("set_timer", "Starts a timer with a name in this server's memory, or starts it again.",
             {"name": STRING, "seconds": {"type": "number", "minimum": 1, "maximum": 86400}},
             annotations={**LOCAL, "destructiveHint": False})
def set_timer(name, seconds):
    if not 1 <= seconds <= 86400:
        return "A timer runs between a second and a day."
    if len(timers) >= 100 and name not in timers:
        return "A hundred timers are enough; stop one first."
    timers[name] = time.monotonic() + seconds
    return "%s rings in %g seconds." % (name, seconds)


@server.tool("check_timers", "Says how much each timer has left.", annotations={**LOCAL, "readOnlyHint": True})
def check_timers():
    now = time.monotonic()
    lines = ["%s: %s" % (name, "%d s left" % (end - now) if end > now else "has rung") for name, end in sorted(timers.items(), key=lambda item: item[1])]
    return "\n".join(lines) or "No timers are set."


@server.tool("stop_timer", "Removes a timer.", {"name": STRING}, annotations={**LOCAL, "destructiveHint": True, "idempotentHint": True})
def stop_timer(name):
    return "Stopped." if timers.pop(name, None) is not None else "There is no such timer."


threading.Thread(target=watch_parent, args=(os.getppid(),), daemon=True).start()
server.run()
