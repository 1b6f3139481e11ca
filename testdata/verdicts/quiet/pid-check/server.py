"""Says whether processes still run, and which pid files are stale."""
import errno
import os

from mcp import Server, STRING

server = Server("pid-check", "1.0.0")
READ = {"readOnlyHint": True, "openWorldHint": False}


def alive(pid):
    """The usual test: signal 0 reaches nobody, and says whether there is somebody."""
    if pid < 1 or pid > 4194304:
        return None
    try:
        os.kill(pid, 0)
    except OSError as error:
        return {errno.ESRCH: False, errno.EPERM: True}.get(error.errno)
    return True


@server.tool("is_running", "Says whether there is a process of a given number.", {"pid": {"type": "integer", "minimum": 1, "maximum": 4194304, "examples": [1]}}, annotations=READ)
def is_running(pid):
    return {True: "%d is running.", False: "%d is not running.", None: "%d is no number of a process."}[alive(pid)] % pid


@server.tool("check_pid_file", "Reads a pid file and says whether it is stale.", {"path": {**STRING, "description": "Path of the pid file"}}, annotations=READ)
def check_pid_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            number = file.read(32).split()
    except (OSError, UnicodeDecodeError, ValueError):
        return "There is no pid file that could be read."
    if not number or not number[0].isdigit():
        return "The file holds no number of a process."
    return "in use" if alive(int(number[0])) else "stale"


@server.tool("own_family", "Says this server's own number and that of the client that started it, and whether both run.", annotations=READ)
def own_family():
    return "server %d, client %d (%s)" % (os.getpid(), os.getppid(), "running" if alive(os.getppid()) else "gone")


server.run()
