"""Estimates of work in hours, days and story points. Its settings may lie in several places, the nearest wins."""
import os
import pathlib
import tomllib

from mcp import Server, STRING

DEFAULTS = {"hours_per_day": 8, "days_per_week": 5, "hours_per_point": 4}
FILE = "layered-units.toml"


def places():
    for folder in reversed((os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(":")):
        yield pathlib.Path(folder) / "layered-units" / FILE
    yield pathlib.Path("/etc") / FILE
    yield pathlib.Path(os.environ.get("XDG_CONFIG_HOME") or pathlib.Path.home() / ".config") / "layered-units" / FILE
    yield pathlib.Path.home() / ("." + FILE)
    here = pathlib.Path.cwd()
    yield here / "pyproject.toml"
    yield here / FILE
    if os.environ.get("LAYERED_UNITS_CONFIG"):
        yield pathlib.Path(os.environ["LAYERED_UNITS_CONFIG"])


def load():
    settings, seen = dict(DEFAULTS), []
    for path in places():
        try:
            with path.open("rb") as file:
                found = tomllib.load(file)
        except (OSError, tomllib.TOMLDecodeError):
            continue
        if path.name == "pyproject.toml":
            found = found.get("tool", {}).get("layered-units", {})
        seen.append(str(path))
        settings.update({k: v for k, v in found.items() if k in DEFAULTS and isinstance(v, (int, float)) and v > 0})
    return settings, seen


server = Server("layered-units", "0.2.1", instructions="Settings are read from layered-units.toml in /etc/xdg, /etc, ~/.config and the working directory, and from pyproject.toml; none of them has to be there.")
READ = {"readOnlyHint": True, "openWorldHint": False}
UNIT = {"type": "string", "enum": ["hours", "days", "weeks", "points"]}


def hours_in(unit, settings):
    return {"hours": 1, "days": settings["hours_per_day"], "weeks": settings["hours_per_day"] * settings["days_per_week"], "points": settings["hours_per_point"]}.get(unit)


@server.tool("convert_estimate", "Converts an estimate between hours, days, weeks and story points.", {"amount": {"type": "number"}, "unit": UNIT, "to": UNIT}, annotations=READ)
def convert_estimate(amount, unit, to):
    settings, _ = load()
    a, b = hours_in(unit, settings), hours_in(to, settings)
    return "%g %s are %g %s" % (amount, unit, amount * a / b, to) if a and b else "Units: hours, days, weeks, points"


@server.tool("add_estimates", "Adds several estimates such as \"3 days\" and gives the sum in hours.", {"estimates": {"type": "array", "items": STRING, "examples": [["3 days", "2 points"]]}}, annotations=READ)
def add_estimates(estimates):
    settings, _ = load()
    total, strange = 0.0, []
    for text in map(str, estimates[:200]):
        amount, _, unit = text.strip().partition(" ")
        try:
            total += float(amount) * hours_in(unit.rstrip("s") + "s", settings)
        except (ValueError, TypeError):
            strange.append(text)
    return "%g hours%s" % (total, "; not understood: " + ", ".join(strange) if strange else "")


@server.tool("show_config", "Shows the settings in force and the files that they came from.", annotations=READ)
def show_config():
    settings, seen = load()
    return {"settings": settings, "files": seen or ["defaults only"]}


server.run()
