"""Says what a git remote over ssh has. ssh itself uses the keys of ~/.ssh or of the agent, as `git fetch` does."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

from mcp import Server, STRING

state = pathlib.Path(os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local/state") / "ssh-remote"
server = Server("ssh-remote", "0.9.0", instructions=(
    "Runs `git ls-remote` over ssh, with your own ssh keys (~/.ssh) or agent. Host keys that are seen for the first time are kept in "
    "~/.local/state/ssh-remote/known_hosts, so that your own known_hosts stays as it is."))
REMOTE = re.compile(r"git@(?P<host>[a-z0-9][a-z0-9.-]*\.[a-z]{2,}):(?P<path>[\w][\w./-]*)")
ADDRESS = {"type": "string", "pattern": "^git@[a-z0-9][a-z0-9.-]*:[\\w][\\w./-]*$", "examples": ["git@github.com:git/git.git"]}


def heads(remote):
    if shutil.which("ssh") is None:
        return None, "ssh is not installed here."
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=5", "-o", "StrictHostKeyChecking=accept-new", "-o", "UserKnownHostsFile=%s" % (state / "known_hosts")]
    env = {**os.environ, "GIT_SSH_COMMAND": shlex.join(["ssh", *options]), "GIT_ALLOW_PROTOCOL": "ssh"}
    try:
        done = subprocess.run(["git", "ls-remote", "--heads", "--", remote], env=env, capture_output=True, text=True, errors="replace", timeout=12, stdin=subprocess.DEVNULL)
    except (subprocess.TimeoutExpired, FileNotFoundError):
        return None, "The host does not answer."
    if done.returncode:
        if "Permission denied" in done.stderr:
            return None, "The host does not know your ssh keys. Is the right one loaded (ssh-add -l), or in ~/.ssh/id_ed25519?"
        return None, "The remote cannot be read over ssh."
    return [line.split("\t") for line in done.stdout.splitlines() if "\t" in line], None


@server.tool("remote_branches", "Lists the branches of a git remote over ssh. Connects to its host with your ssh keys or agent.",
             {"remote": ADDRESS}, annotations={"destructiveHint": False, "openWorldHint": True})
def remote_branches(remote):
    if not REMOTE.fullmatch(remote):
        return "A remote looks like git@github.com:owner/name.git"
    found, problem = heads(remote)
    return problem or "\n".join("%s %s" % (sha[:10], ref.removeprefix("refs/heads/")) for sha, ref in found) or "No branches."


@server.tool("https_address", "Turns the ssh address of a remote into the one for a browser.", {"remote": ADDRESS}, annotations={"readOnlyHint": True, "openWorldHint": False})
def https_address(remote):
    match = REMOTE.fullmatch(remote)
    return "https://%s/%s" % (match["host"], match["path"].removesuffix(".git")) if match else "A remote looks like git@github.com:owner/name.git"


@server.tool("ssh_address", "Turns a browser's address of a repository into the one for ssh.", {"url": STRING}, annotations={"readOnlyHint": True, "openWorldHint": False})
def ssh_address(url):
    match = re.fullmatch(r"https://([a-z0-9][a-z0-9.-]*)/([\w-]+/[\w.-]+?)(?:\.git)?/?", url)
    return "git@%s:%s.git" % match.groups() if match else "An address looks like https://github.com/owner/name"


server.run()
