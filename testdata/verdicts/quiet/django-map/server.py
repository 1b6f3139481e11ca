"""django-map: routes, models and apps of a Django project, read from its source. The project is parsed and never imported."""
import ast
import os
import sys
from pathlib import Path

from mcp import Server

ROOT = Path.cwd().resolve()
SKIPPED = {".git", ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__", "migrations", "static", "media"}
SHOWN = {"DEBUG", "INSTALLED_APPS", "MIDDLEWARE", "ROOT_URLCONF", "AUTH_USER_MODEL", "LANGUAGE_CODE", "TIME_ZONE", "USE_TZ", "USE_I18N", "STATIC_URL", "MEDIA_URL", "DEFAULT_AUTO_FIELD", "WSGI_APPLICATION", "ASGI_APPLICATION"}
READ = {"readOnlyHint": True, "openWorldHint": False}
trees = {}

server = Server("django-map", "1.0.3", instructions="Reads the Python files of the Django project in the working directory. Of settings only harmless ones are shown; SECRET_KEY, DATABASES and the like are not.")


def sources(*names):
    """Yields path and syntax tree of files with these names, parsed anew only if changed."""
    for here, folders, files in os.walk(ROOT):
        folders[:] = sorted(d for d in folders if d not in SKIPPED and not d.startswith("."))
        for name in sorted(files):
            path = Path(here, name)
            if not name.endswith(".py") or path.is_symlink() or not (name in names or path.parent.name + "/" in names):
                continue
            stamp = path.stat().st_mtime_ns
            if trees.get(path, (0,))[0] != stamp:
                try:
                    trees[path] = (stamp, ast.parse(path.read_bytes(), str(path)))
                except (SyntaxError, ValueError) as e:
                    trees[path] = (stamp, ast.Module([], []))
                    print("django-map: %s: %s" % (path.relative_to(ROOT), e), file=sys.stderr)
            yield path.relative_to(ROOT), trees[path][1]


def called(node):
    """Returns the last part of the name of a function that is called."""
    if not isinstance(node, ast.Call):
        return ""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def literal(node):
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def keyword(call, name):
    return next((literal(k.value) for k in call.keywords if k.arg == name), "")


def routes_of(tree):
    for node in ast.walk(tree):
        targets = [getattr(t, "id", "") for t in node.targets] if isinstance(node, ast.Assign) else [getattr(node.target, "id", "")] if isinstance(node, ast.AugAssign) else []
        if "urlpatterns" not in targets:
            continue
        for call in ast.walk(node.value):
            if called(call) in ("path", "re_path", "url") and len(call.args) > 1:
                view = call.args[1]
                inner = "include " + literal(view.args[0]) if called(view) == "include" and view.args else ast.unparse(view)
                yield call.lineno, literal(call.args[0]), inner, keyword(call, "name") or (literal(call.args[3]) if len(call.args) > 3 else "")


@server.tool("list_routes", "Lists the routes in the urls.py files of the Django project: pattern, view and name.",
             optional={"containing": {"type": "string", "description": "Only routes with this in pattern, view or name"}}, annotations=READ)
def list_routes(containing=""):
    lines = []
    for path, tree in sources("urls.py", "urls/"):
        found = [r for r in routes_of(tree) if containing.lower() in " ".join(map(str, r)).lower()]
        if found:
            lines.append("%s" % path)
            lines += ["  %-40s %s%s   (line %d)" % ("/" + pattern, view, " [%s]" % name if name else "", line) for line, pattern, view, name in found]
    return "\n".join(lines) or "No routes found in the urls.py files of %s." % ROOT


def fields_of(cls):
    for node in cls.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and called(node.value).endswith(("Field", "Key", "Relation")):
            kind, related = called(node.value), ""
            if kind in ("ForeignKey", "OneToOneField", "ManyToManyField"):
                related = literal(node.value.args[0]) if node.value.args else keyword(node.value, "to")
            flags = [k.arg for k in node.value.keywords if k.arg in ("null", "unique", "primary_key", "db_index") and getattr(k.value, "value", None) is True]
            yield node.targets[0].id, kind, related, flags


def models():
    for path, tree in sources("models.py", "models/"):
        for cls in (n for n in tree.body if isinstance(n, ast.ClassDef)):
            fields = list(fields_of(cls))
            if fields or any(ast.unparse(b).endswith("models.Model") for b in cls.bases):
                yield path, cls, fields


@server.tool("list_models", "Lists the models of the Django project with their fields and relations.", optional={"app": {"type": "string", "description": "Only models of this app"}}, annotations=READ)
def list_models(app=""):
    lines = []
    for path, cls, fields in models():
        if app and app not in path.parts:
            continue
        lines.append("%s (%s:%d)" % (cls.name, path, cls.lineno))
        lines += ["  %s: %s%s%s" % (name, kind, " -> " + related if related else "", " " + ", ".join(flags) if flags else "") for name, kind, related, flags in fields]
    return "\n".join(lines) or "No models found."


@server.tool("relation_diagram", "Draws the relations between the models as a Mermaid diagram.", annotations=READ)
def relation_diagram():
    sign = {"ForeignKey": "}o--||", "OneToOneField": "||--||", "ManyToManyField": "}o--o{"}
    lines = ["  %s %s %s : %s" % (cls.name, sign[kind], cls.name if related == "self" else related.split(".")[-1] or "Unknown", name)
             for _, cls, fields in models() for name, kind, related, _ in fields if kind in sign]
    return "\n".join(["erDiagram"] + lines) if lines else "The models have no relations."


@server.tool("settings_overview", "Shows installed apps, middleware and a few harmless settings. Secrets, databases, keys and mail are left out.", annotations=READ)
def settings_overview():
    lines = []
    for path, tree in sources("settings.py", "settings/"):
        lines.append(str(path))
        for node in tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id in SHOWN:
                value = ["\n    " + literal(e) for e in node.value.elts] if isinstance(node.value, (ast.List, ast.Tuple)) else [" " + literal(node.value)]
                lines.append("  %s:%s" % (node.targets[0].id, "".join(value)))
    return "\n".join(lines) or "No settings found."


server.run()
