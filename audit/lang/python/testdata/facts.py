"""Prints what CPython's own ast says of Python sources, as JSON lines.

The paths come in on stdin, one per line. Each answer has the path, and "facts": strings
that describe statements, definitions, imports, calls, names and constants, sorted; or
"refused", where the source does not parse.
"""

import ast
import io
import json
import struct
import sys
import tokenize
import warnings
import zlib

EXACT = sys.version_info >= (3, 12)  # before, places within f-strings are not true

STATEMENTS = {
    "FunctionDef": "function", "AsyncFunctionDef": "function", "ClassDef": "class", "Return": "return",
    "Raise": "return", "Delete": "jump", "Pass": "jump", "Break": "jump", "Continue": "jump",
    "Global": "jump", "Nonlocal": "jump", "Assign": "assign", "AugAssign": "assign", "AnnAssign": "assign",
    "TypeAlias": "assign", "For": "loop", "AsyncFor": "loop", "While": "loop", "If": "if", "With": "with",
    "AsyncWith": "with", "Match": "switch", "Try": "try", "TryStar": "try", "Assert": "expr", "Expr": "expr",
}


def escaped(data):
    if len(data) > 100:
        return "%d:%08x" % (len(data), zlib.crc32(data))
    return "".join(chr(c) if 32 < c < 127 and c != 37 else "%%%02x" % c for c in data)


def text(value):
    return escaped(value.encode("utf-8", "surrogatepass"))


def bits(number):
    return struct.pack(">d", number).hex()


def constant(value):
    if value is None:
        return "null"
    if value is Ellipsis:
        return None
    if isinstance(value, bool):
        return "bool " + str(value).lower()
    if isinstance(value, int):
        return "number %x" % value
    if isinstance(value, float):
        return "number " + bits(value)
    if isinstance(value, complex):
        return "number j" + bits(value.imag)
    if isinstance(value, bytes):
        return "bytes " + escaped(value)
    return "string " + text(value)


def dotted(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return dotted(node.value) + "." + node.attr
    return "?"


class Visitor(ast.NodeVisitor):
    def __init__(self, source):
        # ast counts columns in UTF-8, and we count the bytes of the source.
        self.encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
        self.lines = [] if self.encoding.startswith("utf-8") else source.decode(self.encoding).split("\n")
        self.facts = []
        self.scope = []
        self.templates = 0

    def place(self, node):
        if self.templates and not EXACT:
            return "-"
        start, end = node.col_offset, node.end_col_offset
        if self.lines:
            start, end = self.column(node.lineno, start), self.column(node.end_lineno, end)
        return "%d:%d-%d:%d" % (node.lineno, start + 1, node.end_lineno, end + 1)

    def column(self, line, offset):
        return len(self.lines[line - 1].encode()[:offset].decode().encode(self.encoding))

    def add(self, kind, node, *words):
        self.facts.append(" ".join([kind, self.place(node), *words]))

    def visit(self, node):
        name = type(node).__name__
        if name in STATEMENTS:
            self.add("stmt", node, STATEMENTS[name])
        if name in ("TemplateStr", "JoinedStr"):
            self.add("template", node)
            self.templates += 1
            self.pieces(node.values)
            self.templates -= 1
            return
        super().visit(node)

    def pieces(self, values):
        for value in values:
            if isinstance(value, ast.Constant):
                if value.value:
                    self.facts.append("const - " + constant(value.value))
                continue
            if isinstance(value.value, ast.Constant) and isinstance(value.value.value, str):
                self.facts.append("const - " + constant(value.value.value))
            else:
                self.visit(value.value)
            if value.format_spec is not None:
                self.pieces(value.format_spec.values)

    def visit_Import(self, node):
        for a in node.names:
            self.add("import", node, a.name, ("*=" + a.asname) if a.asname else "-")

    def visit_ImportFrom(self, node):
        names = ["%s=%s" % (a.name, a.asname or a.name) for a in node.names]
        self.add("import", node, "." * node.level + (node.module or ""), *names)

    def define(self, kind, node, params, doc):
        self.scope.append(node.name)
        self.add("def", node, kind, ".".join(self.scope), *params, "doc", text(doc or ""))
        self.generic_visit(node)
        self.scope.pop()

    def params(self, args):
        def one(a, default, star=""):
            return star + a.arg + (":" if a.annotation else "") + ("=" if default else "")

        positional = args.posonlyargs + args.args
        missing = len(positional) - len(args.defaults)
        out = [one(a, i >= missing) for i, a in enumerate(positional)]
        if args.vararg:
            out.append(one(args.vararg, None, "*"))
        out += [one(a, d) for a, d in zip(args.kwonlyargs, args.kw_defaults)]
        if args.kwarg:
            out.append(one(args.kwarg, None, "*"))
        return out

    def visit_FunctionDef(self, node):
        self.define("function", node, self.params(node.args), ast.get_docstring(node, clean=False))

    def visit_AsyncFunctionDef(self, node):
        self.define("async", node, self.params(node.args), ast.get_docstring(node, clean=False))

    def visit_ClassDef(self, node):
        params = [k.arg or "*" for k in node.keywords]
        self.define("class", node, params, ast.get_docstring(node, clean=False))

    def visit_Lambda(self, node):
        self.add("lambda", node, *self.params(node.args))
        self.generic_visit(node)

    def visit_Call(self, node):
        keywords = [k.arg for k in node.keywords if k.arg]
        self.add("call", node, dotted(node.func), str(len(node.args) + len(node.keywords)), *keywords)
        self.generic_visit(node)

    def visit_Name(self, node):
        self.add("name", node, node.id)

    def visit_Attribute(self, node):
        self.add("attr", node, node.attr)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        self.add("index", node)
        self.generic_visit(node)

    def visit_Constant(self, node):
        value = constant(node.value)
        if value is None:
            self.add("name", node, "Ellipsis")
        else:
            self.add("const", node, value)

    def visit_MatchSingleton(self, node):
        self.add("const", node, constant(node.value))

    def visit_MatchAs(self, node):
        self.bind(node)

    def visit_MatchStar(self, node):
        self.bind(node)

    def bind(self, node):
        if node.name:
            self.facts.append("bind " + node.name)
        self.generic_visit(node)

    def visit_MatchMapping(self, node):
        if node.rest:
            self.facts.append("bind " + node.rest)
        self.generic_visit(node)

    def visit_ExceptHandler(self, node):
        if node.name:
            self.facts.append("bind " + node.name)
        self.generic_visit(node)

    def declared(self, node):
        for name in node.names:
            self.facts.append("bind " + name)

    visit_Global = declared
    visit_Nonlocal = declared


def main():
    warnings.simplefilter("ignore")
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    sys.setrecursionlimit(20000)
    for path in sys.stdin.read().splitlines():
        answer = {"path": path}
        try:
            with open(path, "rb") as f:
                source = f.read()
            tree = ast.parse(source)
            v = Visitor(source)
            v.visit(tree)
            answer["facts"] = sorted(v.facts)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as e:
            answer["refused"] = "%s: %s, line %s" % (type(e).__name__, e, getattr(e, "lineno", None))
        print(json.dumps(answer), flush=True)


main()
