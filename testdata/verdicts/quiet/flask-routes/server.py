#!/usr/bin/env python3
"""flask-routes: the URL map of a Flask project, without starting it.

    server.py [PROJECT]

The Python files below PROJECT are parsed with ast; they are never imported, and Flask need not be installed. Without
PROJECT, or the variable FLASK_ROUTES_PROJECT, the small shop in the folder sample is shown. Parsed files are kept in
memory until they change.
"""
import ast
import os
import sys
from pathlib import Path

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

PROJECT = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("FLASK_ROUTES_PROJECT") or Path(__file__).resolve().parent / "sample").resolve()
SKIP = {".git", ".venv", "venv", "node_modules", "__pycache__", "site-packages", "build", "dist"}
VERBS = {"get", "post", "put", "patch", "delete"}
MOST_FILES, MOST_BYTES = 2000, 500_000


def constant(node, default=None):
    return node.value if isinstance(node, ast.Constant) else default


def keywords(call):
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def strings(node):
    return [constant(e) for e in node.elts if isinstance(constant(e), str)] if isinstance(node, (ast.List, ast.Tuple, ast.Set)) else []


class Finder(ast.NodeVisitor):
    """Collects routes, blueprints and the templates that views render."""

    def __init__(self, name):
        self.name, self.routes, self.prefixes, self.view = name, [], {}, None

    def visit_Assign(self, node):
        call = node.value
        if isinstance(call, ast.Call) and getattr(call.func, "id", getattr(call.func, "attr", "")) == "Blueprint":
            for target in node.targets:
                if isinstance(target, ast.Name):
                    self.prefixes[target.id] = constant(keywords(call).get("url_prefix"), "")
        self.generic_visit(node)

    def visit_FunctionDef(self, node):
        found = [route for decorator in node.decorator_list if (route := self.decorated(node, decorator))]
        self.routes += found
        outer, self.view = self.view, found or self.view
        self.generic_visit(node)
        self.view = outer

    visit_AsyncFunctionDef = visit_FunctionDef

    def decorated(self, function, call):
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.args):
            return None
        verb, rule, owner = call.func.attr, constant(call.args[0]), getattr(call.func.value, "id", "?")
        if not isinstance(rule, str) or verb != "route" and verb not in VERBS:
            return None
        methods = [verb.upper()] if verb in VERBS else strings(keywords(call).get("methods")) or ["GET"]
        return {"rule": rule, "methods": methods, "view": function.name, "owner": owner, "file": self.name, "line": function.lineno,
                "about": (ast.get_docstring(function) or "").partition("\n")[0], "templates": []}

    def visit_Call(self, node):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name == "render_template" and node.args and self.view and isinstance(constant(node.args[0]), str):
            for route in self.view:
                route["templates"].append(node.args[0].value)
        if name == "register_blueprint" and node.args and isinstance(node.args[0], ast.Name):
            prefix = constant(keywords(node).get("url_prefix"))
            if isinstance(prefix, str):
                self.prefixes[node.args[0].id] = prefix
        if name == "add_url_rule" and node.args and isinstance(constant(node.args[0]), str):
            named = keywords(node)
            self.routes.append({"rule": node.args[0].value, "methods": strings(named.get("methods")) or ["GET"], "view": getattr(named.get("view_func"), "id", "?"),
                                "owner": getattr(getattr(node.func, "value", None), "id", "?"), "file": self.name, "line": node.lineno, "about": "", "templates": []})
        self.generic_visit(node)

    def result(self):
        for route in self.routes:
            route["rule"] = (self.prefixes.get(route["owner"]) or "") + route["rule"]
        return self.routes


def analyse(source, name):
    try:
        finder = Finder(name)
        finder.visit(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError("%s cannot be parsed: %s" % (name, error)) from None
    return finder.result()


parsed = {}  # path: (time, routes)


def files():
    """The Python files of the project; symbolic links are not followed."""
    count = 0
    for folder, folders, names in os.walk(PROJECT):
        folders[:] = sorted(name for name in folders if name not in SKIP and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(".py") and not path.is_symlink() and path.is_file() and path.stat().st_size <= MOST_BYTES:
                count += 1
                if count > MOST_FILES:
                    return
                yield path


def project():
    routes, broken = [], []
    for path in files():
        when, name = path.stat().st_mtime_ns, str(path.relative_to(PROJECT))
        if path not in parsed or parsed[path][0] != when:
            try:
                parsed[path] = when, analyse(path.read_bytes(), name)
            except (ValueError, OSError):
                parsed[path] = when, None
        routes, broken = routes + (parsed[path][1] or []), broken + ([name] if parsed[path][1] is None else [])
    return routes, broken


HINTS = {"readOnlyHint": True, "openWorldHint": False}
server = Server("flask-routes", "1.1.0", "Reads the Python files below the project folder that this server was started with (or its sample), and runs none of them.")


@server.tool("list_routes", "Lists the routes of the project: rule, methods, view function, file and line. Reads the Python files of the project without running them.",
             optional={"method": {"type": "string", "enum": ["GET", "POST", "PUT", "PATCH", "DELETE"]}, "under": {"type": "string", "description": "Only rules that start so", "examples": ["/orders"]}}, annotations=HINTS)
def list_routes(method=None, under=""):
    routes, broken = project()
    chosen = [r for r in routes if (method is None or method in r["methods"]) and r["rule"].startswith(under)]
    return {"routes": [{key: r[key] for key in ("rule", "methods", "view", "file", "line")} for r in chosen], "not parsed": broken}


@server.tool("find_view", "Shows everything known about a view function: its rules, its docstring's first line and the templates that it renders.", {"view": {"type": "string", "examples": ["order"]}}, annotations=HINTS)
def find_view(view):
    found = [route for route in project()[0] if route["view"] == view]
    if not found:
        raise ValueError("no route leads to a view %r" % view)
    return found


@server.tool("same_routes", "Finds rules that are declared more than once for the same method, of which Flask would use only one.", annotations=HINTS)
def same_routes():
    seen = {}
    for route in project()[0]:
        for method in route["methods"]:
            seen.setdefault("%s %s" % (method, route["rule"]), []).append("%s:%d" % (route["file"], route["line"]))
    return {key: places for key, places in seen.items() if len(places) > 1} or "No route is declared twice."


@server.tool("routes_of_source", "Lists the routes in a piece of Python source that you pass. It is parsed, never run.",
             {"source": {"type": "string", "maxLength": MOST_BYTES, "examples": ["@app.get('/ping')\ndef ping():\n    return 'pong'\n"]}}, annotations=HINTS)
def routes_of_source(source):
    if len(source) > MOST_BYTES:
        raise ValueError("at most %d characters" % MOST_BYTES)
    return analyse(source, "source")


server.run()
