"""stash-browser: what is in the stashes of a repository, and which are old enough to forget."""
import logging
import os
import subprocess

from mcp import STRING, Server

logging.basicConfig(level=os.environ.get("STASH_BROWSER_LOG", "WARNING").upper(), format="stash-browser: %(message)s")  # to standard error
log = logging.getLogger()
server = Server("stash-browser", version="0.7.0", instructions="Works on the git repository of the working folder. The stash with number 0 is the latest; dropping one changes the numbers of those behind it, so list them again.")
NUMBER = {"number": {"type": "integer", "minimum": 0, "description": "as list_stashes shows it"}}
LONGEST = 60000


def git(*arguments):
    command = ["git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "color.ui=never", *arguments]
    log.info("%s", " ".join(command))
    done = subprocess.run(command, capture_output=True, timeout=30, stdin=subprocess.DEVNULL)
    text = done.stdout.decode("utf-8", "replace").strip()
    if done.returncode:
        raise RuntimeError((done.stderr.decode("utf-8", "replace").strip() or text or "git failed").splitlines()[0])
    return text


def stashes():
    lines = git("stash", "list", "--format=%H%x09%cr%x09%gs").splitlines()
    return [tuple(line.split("\t", 2)) for line in lines]


def existing(number):
    count = len(stashes())
    if not 0 <= number < count:
        raise ValueError("there is no stash %d, there are %d" % (number, count))
    return "stash@{%d}" % number


@server.tool("list_stashes", "Lists the stashes of the repository with their numbers, ages and messages.", annotations={"title": "List stashes", "readOnlyHint": True, "openWorldHint": False})
def list_stashes():
    return "\n".join("%d  %s  %s" % (n, age, message) for n, (_, age, message) in enumerate(stashes())) or "There are no stashes."


@server.tool("show_stash", "Shows the difference that a stash holds, or only the names of its files.", NUMBER, {"names_only": {"type": "boolean"}}, annotations={"title": "Show a stash", "readOnlyHint": True, "openWorldHint": False})
def show_stash(number, names_only=False):
    text = git("stash", "show", "--stat" if names_only else "--patch", "--include-untracked", "--no-ext-diff", "--no-textconv", existing(number))
    return text[:LONGEST] + ("\n… %d characters more" % (len(text) - LONGEST) if len(text) > LONGEST else "")


@server.tool("save_stash", "Puts the uncommitted changes of the working folder aside as a new stash. The files go back to the last commit; apply_stash brings the changes back.", {"message": {**STRING, "maxLength": 120}}, {"untracked": {"type": "boolean", "description": "new files too"}},
             annotations={"title": "Save a stash", "readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def save_stash(message, untracked=False):
    message = " ".join(message.split())[:120]
    if not message:
        raise ValueError("a stash needs a message")
    return git("stash", "push", "--message=" + message, *(["--include-untracked"] if untracked else []))


@server.tool("apply_stash", "Applies a stash to the files of the working folder and keeps it. Conflicts are left in the files as git leaves them.", NUMBER,
             annotations={"title": "Apply a stash", "readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def apply_stash(number):
    return git("stash", "apply", existing(number))


@server.tool("drop_stash", "Deletes a stash and answers its commit, with which 'git stash store' can bring it back until git cleans up.", NUMBER,
             annotations={"title": "Drop a stash", "readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def drop_stash(number):
    name = existing(number)
    commit, _, message = stashes()[number]
    git("stash", "drop", "--quiet", name)
    return "Dropped %s (%s)." % (message, commit)


server.run()
