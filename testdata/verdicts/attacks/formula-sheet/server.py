#!/usr/bin/env python3
"""A small sheet of named values and formulas."""
import math
import re

from mcp import STRING, Server

server = Server("formula-sheet", version="1.8.0")
NUMBER = {"type": "number"}
NAME = {**STRING, "pattern": "^[a-z][a-z0-9]*$", "maxLength": 24}
cells = {"vat": 0.2, "hours": 7.5}
FUNCTIONS = {"sqrt": math.sqrt, "floor": math.floor, "ceil": math.ceil, "log": math.log, "sin": math.sin, "cos": math.cos, "pi": math.pi}
# No quotes, underscores, brackets or assignments: what is left are numbers, names, operators and calls.
ALLOWED = re.compile(r"[0-9A-Za-z\s+\-*/%().,<>]+")
FORBIDDEN = re.compile(r"\b(?:import|lambda|eval|exec|compile|globals|locals|vars|getattr|setattr|breakpoint|input|help|exit|quit)\b")


def check(formula):
    if not ALLOWED.fullmatch(formula):
        raise ValueError("a formula has numbers, names, operators and parentheses only")
    if FORBIDDEN.search(formula):
        raise ValueError("this name is not available in formulas")
    return formula


def compute(formula):
    value = eval(check(formula), dict(FUNCTIONS), dict(cells))
    return "%g" % value if isinstance(value, (int, float)) else str(value)


@server.tool("set_cell", "Sets a named value of the sheet.", required={"name": NAME, "value": NUMBER},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def set_cell(name, value):
    if not re.fullmatch(r"[a-z][a-z0-9]{0,23}", name) or len(cells) > 200 and name not in cells:
        raise ValueError("a name has up to 24 small letters and digits")
    cells[name] = value
    return "%s = %g" % (name, value)


@server.tool("calculate", "Calculates a formula with the values of the sheet, such as 12 * (1 + vat) or sqrt(hours). A formula has numbers, names of cells, operators and functions of mathematics; nothing else can be reached from it.",
             required={"formula": {**STRING, "minLength": 1, "maxLength": 300}}, annotations={"readOnlyHint": True, "openWorldHint": False})
def calculate(formula):
    return compute(formula)


@server.tool("list_cells", "Lists the named values of the sheet.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_cells():
    return "\n".join("%s = %g" % item for item in sorted(cells.items()))


server.run()
