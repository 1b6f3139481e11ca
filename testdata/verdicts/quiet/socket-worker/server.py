#!/usr/bin/env python3
"""Text statistics, computed by a helper process so that long texts do not block the protocol."""
import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


class Helper:
    """The helper process and the way to it; both are made at the first use."""

    def __init__(self):
        self.process, self.folder = None, None

    def start(self):
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        self.folder = tempfile.mkdtemp(prefix="socket-worker-", dir=runtime if os.access(runtime, os.W_OK) else None)
        path = os.path.join(self.folder, "helper.sock")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            os.chmod(path, 0o600)
            listener.listen(1)
            self.process = subprocess.Popen([sys.executable, os.path.join(HERE, "helper.py"), str(listener.fileno())],
                                            pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return path

    def ask(self, job):
        if self.process is None or self.process.poll() is not None:
            self.stop()
            self.start()
        with socket.socket(socket.AF_UNIX) as way:
            way.settimeout(10)
            way.connect(os.path.join(self.folder, "helper.sock"))
            way.sendall(json.dumps(job).encode() + b"\n")
            return json.loads(way.makefile("rb").readline())["answer"]

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(5)
        if self.folder:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.process = self.folder = None


helper = Helper()
atexit.register(helper.stop)
READ = {"readOnlyHint": True, "openWorldHint": False}
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"name": "word_statistics", "description": "Counts words, sentences and characters of a text, in a helper process.", "inputSchema": TEXT, "annotations": READ},
         {"name": "frequent_words", "description": "Lists the ten most frequent words of a text, by the same helper process.", "inputSchema": TEXT, "annotations": READ}]


def answer(m):
    method, params = m["method"], m.get("params") or {}
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "socket-worker", "version": "1.0.0"}}
    if method in ("ping", "tools/list"):
        return {"tools": TOOLS} if method == "tools/list" else {}
    if method == "tools/call" and params.get("name") in ("word_statistics", "frequent_words"):
        text = (params.get("arguments") or {}).get("text")
        if not isinstance(text, str):
            return {"content": [{"type": "text", "text": "text: a string is needed"}], "isError": True}
        return {"content": [{"type": "text", "text": helper.ask({"job": params["name"], "text": text})}]}
    return None


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and "id" in message and "method" in message:
        found = answer(message)
        body = {"error": {"code": -32601, "message": "not known"}} if found is None else {"result": found}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()
