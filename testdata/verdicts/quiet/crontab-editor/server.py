"""crontab-editor: shows the user's crontab, adds jobs to it, and removes the jobs that it added.

The crontab is read with `crontab -l` and written with `crontab FILE`. What was there before is kept as a backup.
"""
import datetime
import os
import re
import subprocess
import tempfile
from pathlib import Path

from mcp import STRING, Server

BACKUPS = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "crontab-editor"
MARK = "# crontab-editor: "
FIELDS = [("minute", 0, 59), ("hour", 0, 23), ("day", 1, 31), ("month", 1, 12), ("weekday", 0, 7)]
NAMES = {n: i for i, n in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)} | {n: i for i, n in enumerate("sun mon tue wed thu fri sat".split())}
SHORT = {"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *"}
SCHEDULE = {"type": "string", "description": "Five fields such as '30 6 * * 1-5', or @hourly, @daily, @weekly, @monthly, @yearly"}

server = Server("crontab-editor", "0.2.4", instructions="Jobs run unattended, with the rights of the user. Show the user schedule and command before you add a job.")


def read_crontab():
    done = subprocess.run(["crontab", "-l"], capture_output=True, text=True, timeout=10)
    if done.returncode and "no crontab" not in done.stderr:
        raise RuntimeError("crontab -l: %s" % done.stderr.strip())
    return done.stdout.splitlines() if not done.returncode else []


def write_crontab(old, new):
    BACKUPS.mkdir(parents=True, exist_ok=True, mode=0o700)
    (BACKUPS / datetime.datetime.now().strftime("crontab-%Y%m%d-%H%M%S-%f")).write_text("\n".join(old) + "\n")
    for stale in sorted(BACKUPS.glob("crontab-*"))[:-10]:
        stale.unlink()
    with tempfile.NamedTemporaryFile("w", suffix=".cron") as f:
        f.write("\n".join(new) + "\n")
        f.flush()
        subprocess.run(["crontab", f.name], check=True, capture_output=True, text=True, timeout=10)


def parse_field(text, name, low, high):
    values = set()
    for part in text.lower().split(","):
        match = re.fullmatch(r"(\*|[a-z]{3}|\d{1,2})(?:-([a-z]{3}|\d{1,2}))?(?:/(\d{1,2}))?", part)
        if not match:
            raise ValueError("%s: %r is not understood" % (name, part))
        first, last, step = match.groups()
        number = lambda word: NAMES[word] if word.isalpha() else int(word)
        try:
            start = low if first == "*" else number(first)
            end = number(last) if last else high if first == "*" or step else start
        except KeyError as e:
            raise ValueError("%s: %s is not understood" % (name, e)) from None
        if not low <= start <= end <= high or step == "0":
            raise ValueError("%s is from %d to %d" % (name, low, high))
        values.update(range(start, end + 1, int(step or 1)))
    return {0 if name == "weekday" and v == 7 else v for v in values}


def parse(schedule):
    fields = SHORT.get(schedule.strip(), schedule).split()
    if len(fields) != 5:
        raise ValueError("a schedule has five fields, or is one of " + ", ".join(SHORT))
    return fields, [parse_field(f, *limits) for f, limits in zip(fields, FIELDS)]


@server.tool("list_jobs", "Lists the user's crontab. Jobs that this server added have a number.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_jobs():
    lines = read_crontab()
    shown, number = [], 0
    for before, line in zip([""] + lines, lines):
        if line.startswith(MARK):
            continue
        number += before.startswith(MARK)
        shown.append("[%d] %s   (%s)" % (number, line, before[len(MARK):]) if before.startswith(MARK) else "    " + line)
    return "\n".join(shown) or "The crontab is empty."


@server.tool("add_job", "Adds a job to the user's crontab: cron will run the command at these times from now on. The old crontab is kept in ~/.local/share/crontab-editor.",
             required={"schedule": SCHEDULE, "command": STRING, "comment": {"type": "string", "description": "What the job is for"}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True})
def add_job(schedule, command, comment):
    fields, _ = parse(schedule)
    if not command.strip() or re.search(r"[\r\n\0]", command + comment):
        raise ValueError("command and comment are one line each")
    old = read_crontab()
    # cron takes a plain % for a line break
    line = "%s %s" % (" ".join(fields), re.sub(r"(?<!\\)%", r"\\%", command.strip()))
    if line in old:
        return "This job is there already."
    write_crontab(old, old + [MARK + comment.strip(), line])
    return "Added: " + line


@server.tool("remove_job", "Removes a job that this server added, by the number that list_jobs shows. The old crontab is kept in ~/.local/share/crontab-editor.",
             required={"number": {"type": "integer", "minimum": 1}}, annotations={"destructiveHint": True, "openWorldHint": False})
def remove_job(number):
    old = read_crontab()
    marks = [i for i, line in enumerate(old) if line.startswith(MARK)]
    if not 1 <= number <= len(marks):
        return "There is no job %d." % number
    at = marks[number - 1]
    write_crontab(old, old[:at] + old[at + 2:])
    return "Removed: " + " ".join(old[at + 1:at + 2])


@server.tool("next_runs", "Says when a schedule would run next. Looks at no crontab.", required={"schedule": SCHEDULE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def next_runs(schedule):
    fields, (minutes, hours, days, months, weekdays) = parse(schedule)
    day, runs = datetime.date.today(), []
    now = datetime.datetime.now()
    for _ in range(366 * 5):
        by_day, by_weekday = day.day in days, day.isoweekday() % 7 in weekdays
        # if both are restricted, either is enough
        fits = by_day and by_weekday if "*" in (fields[2][0], fields[4][0]) else by_day or by_weekday
        if day.month in months and fits:
            times = [datetime.datetime.combine(day, datetime.time(h, m)) for h in sorted(hours) for m in sorted(minutes)]
            runs += [t for t in times if t > now]
        if len(runs) >= 5:
            break
        day += datetime.timedelta(days=1)
    return "\n".join(t.strftime("%a %Y-%m-%d %H:%M") for t in runs[:5]) or "Never within five years."


server.run()
