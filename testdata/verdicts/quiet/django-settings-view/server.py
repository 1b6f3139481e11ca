#!/usr/bin/env python3
"""django-settings-view: what is set where, without starting Django.

    server.py [FOLDER]

FOLDER holds settings modules (base.py, production.py, ...); without it the two modules in the folder sample are shown.
The modules are parsed, never imported. Values of keys, passwords and tokens are masked before they leave this program.
"""
import ast
import os
import re
import sys

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
FOLDER = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.realpath(__file__)), "sample"))
MODULE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")
# as Django's own debug page does
HIDDEN = re.compile(r"API|TOKEN|KEY|SECRET|PASS|SIGNATURE|DSN|CREDENTIAL|HTTP_COOKIE", re.I)
IN_URL = re.compile(r"(\w+://[^/\s:@]*:)[^@\s/]+(@)")
MASK = "********"

CHECKS = [
    ("DEBUG", lambda v: v is False, "DEBUG should be False in production"),
    ("ALLOWED_HOSTS", lambda v: bool(v) and v != ["*"], "ALLOWED_HOSTS should name the hosts of the site"),
    ("SECURE_SSL_REDIRECT", lambda v: v is True, "plain HTTP is not redirected to HTTPS"),
    ("SESSION_COOKIE_SECURE", lambda v: v is True, "session cookies are sent over plain HTTP too"),
    ("CSRF_COOKIE_SECURE", lambda v: v is True, "CSRF cookies are sent over plain HTTP too"),
]


class Expression(str):
    """Source of a value that is not a literal."""


def value_of(node):
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, MemoryError, RecursionError):
        pass
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        return {key.value: value_of(value) for key, value in zip(node.keys, node.values)}
    if isinstance(node, (ast.List, ast.Tuple)):
        return [value_of(item) for item in node.elts]
    return Expression(ast.unparse(node))


def shown(name, value):
    """The value as it may be shown: masked by the name of the setting or of an inner key."""
    if isinstance(value, Expression):
        if re.fullmatch(r"os\.(environ\[.\w+.\]|getenv\(.\w+.\)|environ\.get\(.\w+.\))", value):
            return str(value)  # names a variable, and is no secret
        return MASK if HIDDEN.search(name) or HIDDEN.search(value) else IN_URL.sub(r"\1%s\2" % MASK, value)
    if HIDDEN.search(name) and value not in (None, "", True, False):
        return MASK
    if isinstance(value, dict):
        return {str(key): shown(str(key), inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [shown(name, inner) for inner in value]
    if isinstance(value, str):
        return IN_URL.sub(r"\1%s\2" % MASK, value)
    return value if isinstance(value, (int, float, type(None))) else repr(value)


def module_path(module):
    if not MODULE.fullmatch(module):
        raise ValueError("a module is named without folder and .py")
    path = os.path.join(FOLDER, module + ".py")
    if os.path.realpath(path) != path or not os.path.isfile(path):
        raise ValueError("there is no settings module %r; there are: %s" % (module, ", ".join(modules())))
    return path


def modules():
    return sorted(e.name[:-3] for e in os.scandir(FOLDER) if e.name.endswith(".py") and e.name != "__init__.py" and e.is_file(follow_symlinks=False))


def read(module, seen=()):
    """Yields (name, value, module, line) in the order of the source; `from .base import *` is followed within the folder."""
    if module in seen:
        return
    with open(module_path(module), "rb") as file:
        tree = ast.parse(file.read(1_000_000))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module in modules() and any(alias.name == "*" for alias in node.names):
            yield from read(node.module, (*seen, module))
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) and node.value else []
        for target in targets:
            if isinstance(target, ast.Name) and target.id.isupper():
                yield target.id, value_of(node.value), module, node.lineno


def settings(module):
    return {name: (value, where, line) for name, value, where, line in read(module)}


WHICH = {"type": "string", "description": "Settings module, without .py", "pattern": "^[A-Za-z_][A-Za-z0-9_]{0,59}$", "examples": ["base", "production"]}
READ = {"annotations": {"readOnlyHint": True, "openWorldHint": False}}
server = Server("django-settings-view", "0.6.0", "Parses the settings modules in one folder and masks keys, passwords and tokens in its answers.")


@server.tool("list_modules", "Lists the settings modules in the folder of this server.", **READ)
def list_modules():
    return modules()


@server.tool("list_settings", "Lists the settings of a module, with those that it takes over by `from .base import *`, and where each is set. Keys, passwords and tokens are masked. The module is parsed, not run.", {"module": WHICH}, **READ)
def list_settings(module):
    return {name: {"value": shown(name, value), "set in": "%s.py:%d" % (where, line)} for name, (value, where, line) in settings(module).items()}


@server.tool("get_setting", "Shows one setting of a module; keys, passwords and tokens are masked.", {"module": WHICH, "name": {"type": "string", "examples": ["DATABASES", "TIME_ZONE"]}}, **READ)
def get_setting(module, name):
    found = settings(module)
    if name not in found:
        raise ValueError("%s does not set %s, so Django's default holds" % (module, name))
    value, where, line = found[name]
    return {"name": name, "value": shown(name, value), "set in": "%s.py:%d" % (where, line)}


@server.tool("compare_modules", "Lists the settings that differ between two modules. Keys, passwords and tokens are masked; that they differ is shown.",
             {"first": WHICH, "second": {**WHICH, "examples": ["production"]}}, **READ)
def compare_modules(first, second):
    one, two = settings(first), settings(second)
    missing = ("(not set)",)
    return {name: {first: shown(name, one.get(name, missing)[0]) if name in one else "(not set)", second: shown(name, two[name][0]) if name in two else "(not set)"}
            for name in sorted(one.keys() | two.keys()) if one.get(name, missing)[0] != two.get(name, missing)[0]}


@server.tool("check_production", "Checks a module for what Django's deployment checklist asks for: DEBUG, ALLOWED_HOSTS, secure cookies, and a secret key that is not written in the source.", {"module": WHICH}, **READ)
def check_production(module):
    found = settings(module)
    remarks = [text for name, good, text in CHECKS if name not in found or not isinstance(found[name][0], Expression) and not good(found[name][0])]
    if "SECRET_KEY" in found and not isinstance(found["SECRET_KEY"][0], Expression):
        remarks.append("SECRET_KEY is written in %s.py" % found["SECRET_KEY"][1])
    return remarks or "Nothing to remark."


if not os.path.isdir(FOLDER):
    sys.exit("django-settings-view: %s is no folder" % FOLDER)
server.run()
