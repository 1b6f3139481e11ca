"""A small MCP server over standard input and output, for the servers of this corpus."""
import json
import sys
import threading

STRING = {"type": "string"}


class Server:
    """Holds what a server declares and answers requests, one at a time."""

    def __init__(self, name, version="1.0.0", instructions=None):
        self.info = {"name": name, "version": version}
        self.instructions = instructions
        self.tools, self.resources, self.prompts = {}, {}, {}
        self.templates = []
        self.started = self.ended = lambda: None
        self.listed = lambda tools: tools  # may change what tools/list answers
        self.completed = None  # answers completion/complete
        self.client = {}  # the parameters of initialize
        self._lock, self._last = threading.Lock(), 0

    def tool(self, name, description, required=None, optional=None, **more):
        """Declares a tool; required and optional map arguments to their schemas, more is annotations, outputSchema, title, …"""
        schema = {"type": "object", "properties": {**(required or {}), **(optional or {})}, "required": list(required or {})}

        def register(function):
            self.tools[name] = ({"name": name, "description": description, "inputSchema": schema, **more}, function)
            return function
        return register

    def resource(self, uri, name, **more):
        def register(function):
            self.resources[uri] = ({"uri": uri, "name": name, **more}, function)
            return function
        return register

    def prompt(self, name, description, arguments=(), **more):
        def register(function):
            self.prompts[name] = ({"name": name, "description": description, "arguments": list(arguments), **more}, function)
            return function
        return register

    def send(self, message):
        with self._lock:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def notify(self, method, **params):
        self.send({"method": method, "params": params})

    def request(self, method, **params):
        self._last += 1
        self.send({"id": "s%d" % self._last, "method": method, "params": params})

    def run(self):
        for line in sys.stdin:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if not isinstance(message, dict) or "method" not in message:
                continue
            if message["method"] == "notifications/initialized":
                self.started()
            if "id" in message:
                self._answer(message)
        self.ended()

    def _answer(self, message):
        try:
            self.send({"id": message["id"], "result": self._result(message["method"], message.get("params") or {})})
        except KeyError as error:
            self.send({"id": message["id"], "error": {"code": -32602, "message": "unknown: %s" % error}})
        except NotImplementedError:
            self.send({"id": message["id"], "error": {"code": -32601, "message": "method not found"}})

    def _result(self, method, params):
        if method == "initialize":
            self.client = params
            result = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": self.info}
            if self.resources or self.templates:
                result["capabilities"]["resources"] = {}
            if self.prompts:
                result["capabilities"]["prompts"] = {}
            if self.completed:
                result["capabilities"]["completions"] = {}
            if self.instructions:
                result["instructions"] = self.instructions
            return result
        if method == "ping":
            return {}
        if method == "tools/list":
            return {"tools": self.listed([declaration for declaration, _ in self.tools.values()])}
        if method == "resources/list":
            return {"resources": [declaration for declaration, _ in self.resources.values()]}
        if method == "resources/templates/list":
            return {"resourceTemplates": self.templates}
        if method == "prompts/list":
            return {"prompts": [declaration for declaration, _ in self.prompts.values()]}
        if method == "resources/read":
            text = self.resources[params.get("uri")][1]()
            return {"contents": [{"uri": params["uri"], "mimeType": "text/plain", "text": text}]}
        if method == "prompts/get":
            text = self.prompts[params.get("name")][1](**(params.get("arguments") or {}))
            return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
        if method == "completion/complete" and self.completed:
            return {"completion": self.completed(params)}
        if method == "tools/call":
            return self._call(*self.tools[params.get("name")], params.get("arguments") or {})
        raise NotImplementedError(method)

    def _call(self, declaration, function, arguments):
        if not isinstance(arguments, dict):
            return {"isError": True, "content": [{"type": "text", "text": "arguments are no object"}]}
        schema = declaration["inputSchema"]
        known = {"string": str, "integer": int, "number": (int, float), "boolean": bool, "array": list, "object": dict}
        missing = [name for name in schema["required"] if name not in arguments]
        wrong = [name for name, value in arguments.items()
                 if name in schema["properties"] and not isinstance(value, known.get(schema["properties"][name].get("type"), object))]
        if missing or wrong:
            return {"isError": True, "content": [{"type": "text", "text": "missing or wrong: " + ", ".join(missing + wrong)}]}
        try:
            result = function(**{name: value for name, value in arguments.items() if name in schema["properties"]})
        except Exception as error:  # a tool's own failure is an answer
            return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (type(error).__name__, error)}]}
        if isinstance(result, dict) and ("content" in result or "structuredContent" in result):
            return result
        return {"content": [{"type": "text", "text": result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)}]}
