"""unittest-runner: runs the unittest tests of a project and says briefly what failed.

Tests run in a process of their own, so that one that hangs or exits does no harm to the server.
"""
import ast
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path.cwd()
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "unittest-runner"
MEMORY = CACHE / (hashlib.sha256(str(ROOT).encode()).hexdigest()[:16] + ".json")
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
RESULT = re.compile(r"^(FAIL|ERROR): (\w+) \(([\w.]+)\)", re.M)
SUMMARY = re.compile(r"^Ran (\d+) tests? in ([\d.]+)s", re.M)
SKIPPED = {".git", ".venv", "venv", "node_modules", "__pycache__", "build", "dist"}


def test_files():
    for here, folders, files in os.walk(ROOT):
        folders[:] = sorted(d for d in folders if d not in SKIPPED)
        for name in sorted(files):
            if name.startswith("test") and name.endswith(".py"):
                yield Path(here, name)


def list_tests(containing=""):
    lines = []
    for file in test_files():
        module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
        try:
            tree = ast.parse(file.read_bytes())
        except (SyntaxError, ValueError) as e:
            lines.append("%s: cannot be parsed: %s" % (file.relative_to(ROOT), e))
            continue
        for cls in (n for n in tree.body if isinstance(n, ast.ClassDef)):
            lines += ["%s.%s.%s" % (module, cls.name, f.name) for f in cls.body if isinstance(f, (ast.FunctionDef, ast.AsyncFunctionDef)) and f.name.startswith("test")]
    lines = [line for line in lines if containing.lower() in line.lower()]
    return "\n".join(lines) or "No tests found in %s." % ROOT


def remember(failed, summary):
    CACHE.mkdir(parents=True, exist_ok=True)
    temporary = MEMORY.with_suffix(".tmp")
    temporary.write_text(json.dumps({"project": str(ROOT), "failed": failed, "summary": summary, "at": time.strftime("%Y-%m-%d %H:%M:%S")}))
    temporary.replace(MEMORY)


def shorten(output, limit=6000):
    """Keeps the tracebacks and drops frames of unittest itself."""
    text = re.sub(r'  File "[^"]*/unittest/[^"]*", line \d+, in .*\n(?:    .*\n)*', "", output)
    return text if len(text) <= limit else text[:limit // 2] + "\n...\n" + text[-limit // 2:]


def run_tests(tests=None, seconds=120, failfast=False):
    wrong = [t for t in tests or [] if not isinstance(t, str) or not DOTTED.fullmatch(t)]
    if wrong:
        raise ValueError("%r is no dotted name such as tests.test_prices.TestRounding" % wrong[0])
    command = [sys.executable, "-m", "unittest"] + (["-f"] if failfast else []) + (list(tests) if tests else ["discover"])
    try:
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=min(max(seconds, 1), 900), env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    except subprocess.TimeoutExpired:
        return "Stopped: the tests took longer than %d seconds." % seconds
    failed = ["%s" % m[3] if m[3].endswith("." + m[2]) else "%s.%s" % (m[3], m[2]) for m in RESULT.finditer(done.stdout)]
    ran = SUMMARY.search(done.stdout)
    summary = "%s tests in %s s, %d failed" % (ran[1], ran[2], len(failed)) if ran else "unittest ended with status %d" % done.returncode
    remember(failed, summary)
    if done.returncode == 0:
        return summary
    return "%s\n%s\n\n%s" % (summary, "\n".join(failed), shorten(done.stdout))


def rerun_failed(seconds=120):
    if not MEMORY.is_file():
        return "No tests have been run here yet."
    memory = json.loads(MEMORY.read_text())
    names = [t for t in memory["failed"] if DOTTED.fullmatch(t) and not t.startswith("unittest.loader.")]
    return run_tests(names, seconds) if names else "Nothing failed last time (%s, %s)." % (memory["summary"], memory["at"])


SECONDS = {"type": "integer", "minimum": 1, "maximum": 900, "default": 120}
RUNS = {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True}
TOOLS = {
    "list_tests": (list_tests, "Lists the unittest tests below the working directory, from their source; nothing is run.", {"containing": {"type": "string"}}, {"readOnlyHint": True, "openWorldHint": False}),
    "run_tests": (run_tests, "Runs tests with `python -m unittest`: all that discovery finds, or those named. This runs the project's code, with all that its tests do. What failed is remembered in ~/.cache/unittest-runner.",
                  {"tests": {"type": "array", "items": {"type": "string"}, "description": "Dotted names of modules, classes or tests"}, "seconds": SECONDS, "failfast": {"type": "boolean", "default": False}}, RUNS),
    "rerun_failed": (rerun_failed, "Runs the tests once more that failed last time.", {"seconds": SECONDS}, RUNS),
}
KINDS = {"string": str, "integer": int, "boolean": bool, "array": list}


def call(name, arguments):
    function, _, properties, _ = TOOLS[name]
    try:
        for key, value in arguments.items():
            if key not in properties or type(value) is not KINDS[properties[key]["type"]]:
                raise ValueError("wrong argument: %s" % key)
        return {"content": [{"type": "text", "text": function(**arguments)}]}
    except (ValueError, OSError, AttributeError) as e:
        return {"content": [{"type": "text", "text": str(e)}], "isError": True}


for line in sys.stdin:
    try:
        message = json.loads(line)
        key, method, params = message["id"], message["method"], dict(message.get("params") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    if method == "initialize":
        body = {"result": {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "unittest-runner", "version": "0.4.2"}}}
    elif method == "tools/list":
        body = {"result": {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p}, "annotations": a} for n, (_, d, p, a) in TOOLS.items()]}}
    elif method == "tools/call" and params.get("name") in TOOLS:
        body = {"result": call(params["name"], params.get("arguments") or {})}
    elif method == "ping":
        body = {"result": {}}
    else:
        body = {"error": {"code": -32601, "message": "unknown method or tool"}}
    print(json.dumps({"jsonrpc": "2.0", "id": key, **body}), flush=True)
