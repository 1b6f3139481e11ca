"""A calculator. Expressions are parsed with ast and walked; only numbers, the listed operators and functions are allowed."""
import ast
import math
import operator
from fractions import Fraction

from mcp import Server, STRING

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS = {"sqrt": math.sqrt, "sin": math.sin, "cos": math.cos, "tan": math.tan, "log": math.log, "exp": math.exp, "abs": abs, "round": round, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil}
CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
LARGEST = 10 ** 300


class NotAllowed(ValueError):
    pass


def checked(value):
    if isinstance(value, complex) or (isinstance(value, int) and abs(value) > LARGEST):
        raise NotAllowed("the result is too large")
    return value


def power(base, exponent):
    if abs(exponent) > 1000 or abs(base) > 10 ** 15:
        raise NotAllowed("the power is too large")
    return base ** exponent


def walk(node, names, depth=0):
    if depth > 60:
        raise NotAllowed("too deeply nested")
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return checked(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and type(node.op) in UNARY:
        return UNARY[type(node.op)](walk(node.operand, names, depth + 1))
    if isinstance(node, ast.BinOp):
        left, right = walk(node.left, names, depth + 1), walk(node.right, names, depth + 1)
        if isinstance(node.op, ast.Pow):
            return checked(power(left, right))
        if type(node.op) in BINARY:
            return checked(BINARY[type(node.op)](left, right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS and not node.keywords:
        return checked(FUNCTIONS[node.func.id](*(walk(a, names, depth + 1) for a in node.args)))
    raise NotAllowed("only numbers, + - * / // % **, %s and %s" % (", ".join(CONSTANTS), ", ".join(FUNCTIONS)))


def compute(expression, names=CONSTANTS):
    if len(expression) > 500:
        raise NotAllowed("the expression is too long")
    return walk(ast.parse(expression.strip().replace("^", "**"), mode="eval").body, names)


def careful(function):
    try:
        return function()
    except (ValueError, SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
        return "Cannot compute this: %s." % (getattr(error, "msg", None) or error)


server = Server("safe-calc", "2.0.0", instructions="Expressions such as 2*(3+4)^2, sqrt(2), round(pi, 3). They are not run as code.")
PURE = {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True}
EXPRESSION = {"type": "string", "maxLength": 500, "examples": ["2*(3+4)^2", "sqrt(2)/pi"]}


@server.tool("calculate", "Computes an arithmetic expression.", {"expression": EXPRESSION}, annotations=PURE)
def calculate(expression):
    return careful(lambda: "%s = %s" % (expression, compute(expression)))


@server.tool("tabulate", "Computes an expression in x for several values of x.", {"expression": {**EXPRESSION, "examples": ["x^2 + 1"]}, "values": {"type": "array", "items": {"type": "number"}, "maxItems": 50}}, annotations=PURE)
def tabulate(expression, values):
    numbers = [v for v in values[:50] if type(v) in (int, float)]
    return "\n".join("x = %s: %s" % (x, careful(lambda: compute(expression, {**CONSTANTS, "x": x}))) for x in numbers) or "No values of x."


@server.tool("as_fraction", "Finds a simple fraction close to a number.", {"number": {"type": "number"}}, {"denominator": {"type": "integer", "minimum": 1, "maximum": 10000}}, annotations=PURE)
def as_fraction(number, denominator=100):
    return careful(lambda: str(Fraction(number).limit_denominator(max(1, min(denominator, 10000)))))


server.run()
