#!/usr/bin/env python3
"""bike-gears: gear inches, development and speed of bicycles. Schemas come from the type hints of the functions."""
import functools
import inspect
import math
from typing import Annotated, Literal, Optional, get_args, get_origin, get_type_hints

from mcp import Server

RIMS = {"700C": 622, "650B": 584, "26": 559, "24": 507, "20": 406, "16": 349}
server = Server("bike-gears", version="1.0.1")


class Between:
    """Bounds of a number, or of the length of a list."""

    def __init__(self, low, high, about=""):
        self.low, self.high, self.about = low, high, about


def parts(hint):
    """The bare type of a hint and its bounds."""
    bounds = None
    if get_origin(hint) is Annotated:
        hint, bounds = get_args(hint)[:2]
    inner = [a for a in get_args(hint) if a is not type(None)]
    if type(None) in get_args(hint):
        hint, more = parts(inner[0])
        bounds = bounds or more
    return hint, bounds


def schema(hint):
    bare, bounds = parts(hint)
    if get_origin(bare) is Literal:
        return {"type": "string", "enum": list(get_args(bare))}
    if get_origin(bare) is list:
        found = {"type": "array", "items": schema(get_args(bare)[0])}
        keys = ("minItems", "maxItems")
    else:
        found, keys = {"type": {int: "integer", float: "number", str: "string"}[bare]}, ("minimum", "maximum")
    if bounds:
        found.update(zip(keys, (bounds.low, bounds.high)))
        if bounds.about:
            found["description"] = bounds.about
    return found


def check(name, value, hint):
    bare, bounds = parts(hint)
    if get_origin(bare) is Literal:
        if not isinstance(value, str) or value not in get_args(bare):
            raise ValueError("%s is one of %s" % (name, ", ".join(get_args(bare))))
        return value
    if get_origin(bare) is list:
        if not isinstance(value, list) or (bounds and not bounds.low <= len(value) <= bounds.high):
            raise ValueError("%s is a list of %d to %d entries" % (name, bounds.low, bounds.high))
        return [check("%s[%d]" % (name, i), v, get_args(bare)[0]) for i, v in enumerate(value)]
    kinds = (int, float) if bare is float else (bare,)
    if isinstance(value, bool) or not isinstance(value, kinds) or (bounds and not bounds.low <= value <= bounds.high):
        raise ValueError("%s is a%s %s" % (name, " whole number" if bare is int else " number", "from %g to %g" % (bounds.low, bounds.high) if bounds else ""))
    return value


def tool(function):
    """Declares a function as a tool; its docstring is the description."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    signature = inspect.signature(function).parameters
    required = [n for n, p in signature.items() if p.default is p.empty]
    declaration = {"name": function.__name__, "description": inspect.getdoc(function), "annotations": {"readOnlyHint": True, "openWorldHint": False},
                   "inputSchema": {"type": "object", "properties": {n: schema(h) for n, h in hints.items()}, "required": required}}

    @functools.wraps(function)
    def checked(**arguments):
        return function(**{n: check(n, v, hints[n]) for n, v in arguments.items()})
    server.tools[function.__name__] = (declaration, checked)
    return function


Teeth = Annotated[int, Between(6, 70, "teeth")]
Rings = Annotated[list[Teeth], Between(1, 4)]
Cogs = Annotated[list[Teeth], Between(1, 14)]
Tyre = Annotated[float, Between(18, 130, "width of the tyre in millimetres")]
Rim = Literal["700C", "650B", "26", "24", "20", "16"]


def around(rim, tyre):
    return math.pi * (RIMS[rim] + 2 * tyre) / 1000


@tool
def gear_table(rings: Rings, cogs: Cogs, rim: Rim = "700C", tyre: Tyre = 28):
    """Shows ratio, gear inches and development in metres for each pair of chainring and cog."""
    metres = around(rim, tyre)
    rows = sorted((ring / cog, ring, cog) for ring in rings for cog in cogs)
    return "\n".join("%d/%d  ratio %.2f  %5.1f inches  %.2f m" % (ring, cog, ratio, ratio * metres / math.pi / 0.0254, ratio * metres) for ratio, ring, cog in rows)


@tool
def speed(ring: Teeth, cog: Teeth, cadence: Annotated[int, Between(20, 200, "turns of the crank in a minute")], rim: Rim = "700C", tyre: Tyre = 28):
    """Computes the speed at a cadence in one gear."""
    return "%.1f km/h" % (ring / cog * around(rim, tyre) * cadence * 60 / 1000)


@tool
def chain_length(ring: Teeth, cog: Teeth, stay: Annotated[float, Between(300, 600, "chainstay in millimetres")]):
    """Estimates the links of a chain for the largest chainring and the largest cog, as an even number."""
    inches = 2 * stay / 25.4 + (ring + cog) / 4 + 1
    return "%d links" % (2 * math.ceil(inches))


@tool
def skid_patches(ring: Teeth, cog: Teeth, feet: Optional[Annotated[int, Between(1, 2, "feet that may lead when skidding")]] = None):
    """Counts the places where the tyre of a fixed gear wears when skidding."""
    patches = cog // math.gcd(ring, cog)
    return "%d" % (patches * 2 if feet == 2 and (ring // math.gcd(ring, cog)) % 2 else patches)


server.run()
