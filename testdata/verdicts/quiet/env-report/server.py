"""Shows the environment that a client gives its MCP servers: often the answer to "why does it work in my terminal only?"."""
import os
import platform
import re
import shutil
import sys

from mcp import Server, STRING

SECRET = re.compile(r"key|token|secret|passw|credential|auth|cookie|session|dsn|private|_url$|_uri$", re.I)
server = Server("env-report", "0.6.1", instructions="Shows the environment variables of this server. Values whose names look like secrets are replaced by their length.")
READ = {"readOnlyHint": True, "openWorldHint": False}


def shown(name, value):
    if SECRET.search(name) or "-----BEGIN" in value:
        return "(hidden, %d characters)" % len(value)
    return value if len(value) <= 300 else value[:300] + "…"


@server.tool("list_environment", "Lists the environment variables that this server was started with. Values that look like secrets are hidden.",
             optional={"prefix": {"type": "string", "examples": ["LC_", "XDG_"]}}, annotations=READ)
def list_environment(prefix=""):
    lines = ["%s=%s" % (name, shown(name, value)) for name, value in sorted(os.environ.items()) if name.startswith(prefix)]
    return "\n".join(lines) or "No variable begins like this."


@server.tool("is_set", "Says whether environment variables are set, without their values.", {"names": {"type": "array", "items": STRING, "maxItems": 50}}, annotations=READ)
def is_set(names):
    return "\n".join("%s: %s" % (name, "set" if os.environ.get(name) else "empty" if name in os.environ else "not set") for name in map(str, names[:50])) or "Nothing asked."


@server.tool("which_program", "Says where in the PATH of this server a program lies. It is not run.", {"program": {"type": "string", "pattern": "^[\\w.+-]+$"}}, annotations=READ)
def which_program(program):
    if not re.fullmatch(r"[\w.+-]+", program):
        return "Give a bare name, such as git."
    return shutil.which(program) or "%s is in none of: %s" % (program, os.environ.get("PATH", "(no PATH)").replace(":", ", "))


@server.tool("runtime", "Says which Python, system and working directory this server runs with.", annotations=READ)
def runtime():
    return {"python": sys.version.split()[0], "executable": sys.executable, "system": platform.platform(), "directory": os.getcwd(), "encoding": sys.stdout.encoding}


server.run()
