#!/usr/bin/env python3
"""fraction-calc: exact arithmetic with fractions. 1/3 + 1/6 is 1/2, not 0.49999."""
import ast
import math
import operator
import sys
from fractions import Fraction
from functools import lru_cache

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

BITS = 4096  # of a numerator or denominator
server = Server("fraction-calc", "2.0.1", "Pure calculation. Variables live in memory until the server ends.")
variables = {}


class Wrong(Exception):
    """What the user should correct."""


def small(value):
    if value.numerator.bit_length() > BITS or value.denominator.bit_length() > BITS:
        raise Wrong("the numbers get too long (more than %d bits)" % BITS)
    return value


def power(base, exponent):
    if exponent.denominator != 1:
        raise Wrong("only whole exponents are exact")
    n = abs(exponent.numerator)
    if n > BITS or n * max(base.numerator.bit_length(), base.denominator.bit_length()) > 2 * BITS:
        raise Wrong("this power is too large")
    if not base and exponent < 0:
        raise Wrong("division by zero")
    return base ** exponent.numerator


def divide(a, b):
    if not b:
        raise Wrong("division by zero")
    return a / b


BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: divide, ast.Pow: power,
          ast.FloorDiv: lambda a, b: Fraction(math.floor(divide(a, b))), ast.Mod: lambda a, b: a - b * math.floor(divide(a, b))}
UNARY = {ast.UAdd: operator.pos, ast.USub: operator.neg}
FUNCTIONS = {"abs": (1, abs), "floor": (1, lambda x: Fraction(math.floor(x))), "ceil": (1, lambda x: Fraction(math.ceil(x))), "round": (1, lambda x: Fraction(round(x))),
             "min": (2, min), "max": (2, max), "gcd": (2, lambda a, b: Fraction(math.gcd(whole(a), whole(b)))), "lcm": (2, lambda a, b: Fraction(math.lcm(whole(a), whole(b))))}


def whole(value):
    if value.denominator != 1:
        raise Wrong("gcd and lcm need whole numbers")
    return value.numerator


def evaluate(node):
    match node:
        case ast.Expression(body=body):
            return evaluate(body)
        case ast.Constant(value=bool() | complex()):
            raise Wrong("only numbers")
        case ast.Constant(value=int(value)):
            return small(Fraction(value))
        case ast.Constant(value=float(value)):
            if not math.isfinite(value):
                raise Wrong("this number is too large")
            return small(Fraction(repr(value)))  # 0.1 means 1/10
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return small(BINARY[type(op)](evaluate(left), evaluate(right)))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](evaluate(operand))
        case ast.Name(id=name):
            if name not in variables:
                raise Wrong("there is no variable %s" % name)
            return variables[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            count, function = FUNCTIONS[name]
            if len(args) != count:
                raise Wrong("%s takes %d numbers" % (name, count))
            return small(function(*map(evaluate, args)))
    raise Wrong("only + - * / // % **, brackets, variables and " + ", ".join(FUNCTIONS))


@lru_cache(maxsize=256)
def parse(text):
    if len(text) > 1000:
        raise Wrong("at most 1000 characters")
    try:
        return ast.parse(text.replace("^", "**").strip(), mode="eval")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise Wrong("this is not an expression") from None


def calculate(text):
    try:
        return evaluate(parse(text))
    except RecursionError:
        raise Wrong("too many brackets") from None


def number(value):
    try:
        decimal = float(value)
    except OverflowError:
        decimal = None
    mixed = "%d %d/%d" % (int(value), abs(value.numerator) % value.denominator, value.denominator) if abs(value) > 1 and value.denominator > 1 else str(value)
    return {"exact": str(value), "mixed": mixed, "decimal": decimal}


EXPRESSION = {"type": "string", "maxLength": 1000, "examples": ["1/3 + 1/6", "(2/3)^4 - gcd(12, 18)"]}
PURE = {"annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}}


@server.tool("calculate", "Calculates an expression exactly: + - * / // % ^, brackets, abs, floor, ceil, round, min, max, gcd, lcm and variables. Decimals are read as fractions.", {"expression": EXPRESSION}, **PURE)
def calculate_tool(expression):
    return number(calculate(expression))


@server.tool("set_variable", "Keeps the value of an expression under a name, in memory, until the server ends. Writes over an earlier value.",
             {"name": {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,19}$", "examples": ["x"]}, "expression": EXPRESSION}, annotations={"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False})
def set_variable(name, expression):
    if not (name.isascii() and name.isidentifier() and name.islower() and len(name) <= 20) or name in FUNCTIONS:
        raise Wrong("a name has up to 20 small letters and digits and is no function")
    if len(variables) >= 100 and name not in variables:
        raise Wrong("at most 100 variables")
    variables[name] = calculate(expression)
    return "%s = %s" % (name, variables[name])


@server.tool("list_variables", "Lists the variables and their values.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_variables():
    return {name: str(value) for name, value in variables.items()}


@server.tool("continued_fraction", "Writes the value of an expression as a continued fraction, with its convergents.", {"expression": EXPRESSION}, **PURE)
def continued_fraction(expression):
    value, terms, convergents = calculate(expression), [], []
    (a, b), (c, d) = (1, 0), (0, 1)  # numerators and denominators of the last two convergents
    while len(terms) < 50:
        term = math.floor(value)
        terms.append(term)
        a, b, c, d = term * a + b, a, term * c + d, c
        convergents.append("%d/%d" % (a, c))
        if value == term:
            break
        value = 1 / (value - term)
    return {"terms": terms, "convergents": convergents}


@server.tool("approximate", "Finds the fraction with a bounded denominator that is nearest to the value of an expression.",
             {"expression": {**EXPRESSION, "examples": ["3.14159265358979"]}, "largest_denominator": {"type": "integer", "minimum": 1, "maximum": 1000000000, "examples": [1000]}}, **PURE)
def approximate(expression, largest_denominator):
    if not 1 <= largest_denominator <= 10**9:
        raise Wrong("largest_denominator is from 1 to 1000000000")
    value = calculate(expression)
    near = value.limit_denominator(largest_denominator)
    return {**number(near), "error": float(abs(near - value))}


server.run()
