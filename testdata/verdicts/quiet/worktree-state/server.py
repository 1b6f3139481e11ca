"""State of a git repository: what changed, what is staged, what was stashed."""
import os
import subprocess
import sys

from mcp import Server, STRING

REPO = sys.argv[1] if len(sys.argv) > 1 else "."
server = Server("worktree-state", "1.3.0", instructions="Looks at the git repository in " + REPO)
READ = {"readOnlyHint": True, "openWorldHint": False}


def git(*arguments):
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_PAGER": "cat", "LC_ALL": "C.UTF-8"}
    done = subprocess.run(["git", "-C", REPO, "--no-pager", *arguments], capture_output=True, text=True, errors="replace", timeout=15, env=environment, stdin=subprocess.DEVNULL)
    return done.returncode, (done.stdout + done.stderr)[:20000].strip()


def is_repository():
    return os.path.isdir(REPO) and git("rev-parse", "--git-dir")[0] == 0


def show(*arguments, empty="nothing"):
    if not is_repository():
        return "There is no git repository yet: begin_repository makes one."
    return git(*arguments)[1] or empty


@server.tool("state", "Shows the state of the working tree, by running git status.", annotations=READ)
def state():
    return show("status", "--short", "--branch")


@server.tool("difference", "Shows what differs from the index, or what is staged, by running git diff.", optional={"staged": {"type": "boolean"}}, annotations=READ)
def difference(staged=False):
    return show("diff", "--stat", "-p", *(["--cached"] if staged else []), empty="no difference")


@server.tool("stashes", "Lists the stashes, by running git stash list.", annotations=READ)
def stashes():
    return show("stash", "list", empty="no stashes")


@server.tool("begin_repository", "Runs git init in the folder, if it holds no repository yet, and commits a README with the given title.", {"title": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False})
def begin_repository(title):
    if is_repository():
        return "There is one already."
    os.makedirs(REPO, exist_ok=True)
    git("init", "-q", "-b", "main")
    path = os.path.join(REPO, "README.md")
    if not os.path.lexists(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("# %s\n" % title[:100].replace("\n", " "))
    git("add", "README.md")
    return git("-c", "user.name=worktree-state", "-c", "user.email=worktree-state@localhost", "commit", "-q", "-m", "Begin")[1] or "Begun."


server.run()
