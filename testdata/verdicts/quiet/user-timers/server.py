"""Reminders by systemd user timers. systemctl is not run: `systemctl --user daemon-reload` is for the user to type."""
import os
import re

from mcp import Server, STRING

UNITS = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "systemd", "user")
server = Server("user-timers", "1.0.1", instructions="Adds reminders as systemd timer and service units in ~/.config/systemd/user. Run `systemctl --user daemon-reload` and enable a timer yourself.")
NAME = {**STRING, "pattern": "^[a-z][a-z0-9-]{0,30}$", "examples": ["tea"]}


def unit(name, kind):
    return os.path.join(UNITS, "reminder-%s.%s" % (name, kind))


@server.tool("add_reminder", "Adds a reminder as a systemd user timer: writes a timer unit and a service unit that shows a desktop notification (notify-send).",
             {"name": NAME, "text": {**STRING, "maxLength": 100}}, {"time": {**STRING, "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$", "default": "16:00"}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def add_reminder(name, text, time="16:00"):
    if not re.fullmatch("[a-z][a-z0-9-]{0,30}", name) or not re.fullmatch("([01][0-9]|2[0-3]):[0-5][0-9]", time):
        return "A name has small letters, digits and hyphens; a time is written 16:00."
    plain = re.sub(r"[^\w .,:!?-]", " ", text)[:100].strip() or name
    os.makedirs(UNITS, exist_ok=True)
    with open(unit(name, "service"), "w", encoding="utf-8") as file:
        file.write('[Unit]\nDescription=Reminder %s\n\n[Service]\nType=oneshot\nExecStart=/usr/bin/notify-send "Reminder" "%s"\n' % (name, plain))
    with open(unit(name, "timer"), "w", encoding="utf-8") as file:
        file.write("[Unit]\nDescription=Reminder %s\n\n[Timer]\nOnCalendar=*-*-* %s:00\n\n[Install]\nWantedBy=timers.target\n" % (name, time))
    return "Written. To switch it on: systemctl --user daemon-reload && systemctl --user enable --now reminder-%s.timer" % name


@server.tool("remove_reminder", "Removes the systemd timer and service units of a reminder.", {"name": NAME}, annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def remove_reminder(name):
    if not re.fullmatch("[a-z][a-z0-9-]{0,30}", name) or not os.path.exists(unit(name, "timer")):
        return "There is no such reminder."
    os.remove(unit(name, "timer"))
    os.remove(unit(name, "service"))
    return "Removed."


@server.tool("list_reminders", "Lists the reminders among the systemd user timers.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_reminders():
    found = sorted(n[9:-6] for n in (os.listdir(UNITS) if os.path.isdir(UNITS) else []) if n.startswith("reminder-") and n.endswith(".timer"))
    return "\n".join(found) or "There are no reminders."


server.run()
