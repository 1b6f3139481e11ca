"""code-churn: what the history of a repository says about its files. Nothing is written: only "git log", "git ls-files" and "git rev-parse" are run."""
import collections
import functools
import itertools
import os
import re
import subprocess

from mcp import STRING, Server

GIT = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.quotePath=false", "-c", "log.showSignature=false"]
PERIOD = re.compile(r"\d{1,4} (day|week|month|year)s?")

server = Server("code-churn", version="1.0.0")
since = {**STRING, "description": "such as '3 months' or '2 weeks'; 6 months unless given", "pattern": "^%s$" % PERIOD.pattern}
reads = {"readOnlyHint": True, "openWorldHint": False}


def git(*arguments):
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run([*GIT, *arguments], capture_output=True, text=True, errors="replace", timeout=30, env=environment, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise RuntimeError("git is not installed") from None
    if done.returncode:
        raise RuntimeError("git %s: %s" % (arguments[0], (done.stderr.strip().splitlines() or ["failed"])[0]))
    return done.stdout


@functools.lru_cache(maxsize=8)
def history(head, period):
    """The commits of a period: a list of (author, {file: changed lines}). Cached until HEAD moves."""
    commits = []
    for line in git("log", "--no-merges", "--no-renames", "--no-ext-diff", "--no-textconv", "--numstat", "--format=%x01%an", "--since=%s ago" % period, head).splitlines():
        if line.startswith("\x01"):
            commits.append((line[1:], {}))
        elif line.count("\t") == 2:
            added, removed, file = line.split("\t")
            commits[-1][1][file] = sum(int(n) for n in (added, removed) if n.isdigit())
    return commits


def commits(period):
    if not PERIOD.fullmatch(period):
        raise ValueError("a period looks like '3 months' or '2 weeks'")
    return history(git("rev-parse", "--verify", "HEAD").strip(), period)


@server.tool("most_changed_files", "Lists the files of this repository that were changed most often in a period, with commits, changed lines and the number of people.",
             optional={"since": since, "limit": {"type": "integer", "minimum": 1, "maximum": 200}}, annotations=reads)
def most_changed_files(since="6 months", limit=20):
    times, lines, people = collections.Counter(), collections.Counter(), collections.defaultdict(set)
    for author, files in commits(since):
        for file, changed in files.items():
            times[file] += 1
            lines[file] += changed
            people[file].add(author)
    present = set(git("ls-files").splitlines())
    rows = [(file, n) for file, n in times.most_common() if file in present][:max(1, min(200, limit))]
    return "\n".join("%4d commits  %6d lines  %2d people  %s" % (n, lines[file], len(people[file]), file) for file, n in rows) or "No commits in that time."


@server.tool("changed_together", "Finds pairs of files that are often part of the same commit, which may mean that one depends on the other.", optional={"since": since, "least": {"type": "integer", "minimum": 2}}, annotations=reads)
def changed_together(since="6 months", least=4):
    alone, pairs = collections.Counter(), collections.Counter()
    for _, files in commits(since):
        if 1 < len(files) <= 30:  # larger commits are reformattings
            alone.update(files.keys())
            pairs.update(itertools.combinations(sorted(files), 2))
    found = [(n / min(alone[a], alone[b]), n, a, b) for (a, b), n in pairs.items() if n >= max(2, least)]
    return "\n".join("%3d%%  %d times  %s  +  %s" % (100 * share, n, a, b) for share, n, a, b in sorted(found, reverse=True)[:40]) or "No pair was changed together that often."


@server.tool("commits_by_weekday", "Counts the commits of the last year on the current branch by weekday and by hour.", annotations=reads)
def commits_by_weekday():
    hours, days = collections.Counter(), collections.Counter()
    for stamp in git("log", "--since=1 year ago", "--date=format-local:%a %H", "--format=%ad").splitlines():
        day, hour = stamp.split()
        days[day] += 1
        hours[hour] += 1
    if not days:
        return "No commits in the last year."
    most = max(hours.values())
    bars = ["%s %s %d" % (h, "#" * round(30 * hours[h] / most), hours[h]) for h in sorted(hours)]
    return "\n".join(["%s %d" % (d, days[d]) for d in ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")] + [""] + bars)


server.run()
