"""Times around the world. The language and the home time zone come from the system, as for any program."""
import datetime as dt
import locale
import os
import zoneinfo

from mcp import Server, STRING

try:
    locale.setlocale(locale.LC_TIME, "")
except locale.Error:
    pass  # a locale that is not installed: names of days are English then


def home_zone():
    """Finds the zone's name where systems keep it: TZ, /etc/timezone, the target of /etc/localtime."""
    candidates = [os.environ.get("TZ", "").lstrip(":")]
    try:
        with open("/etc/timezone") as file:
            candidates.append(file.read().strip())
    except OSError:
        pass
    target = os.path.realpath("/etc/localtime")
    if "/zoneinfo/" in target:
        candidates.append(target.split("/zoneinfo/", 1)[1])
    return next((name for name in candidates if zone_of(name)), "UTC")


def zone_of(name):
    if name == "UTC":
        return dt.timezone.utc
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


server = Server("world-clock", "1.0.5")
READ = {"readOnlyHint": True, "openWorldHint": False}
ZONE = {"type": "string", "description": "IANA name", "examples": ["Asia/Tokyo", "Europe/Madrid"]}
UNKNOWN = "There is no time zone of this name; they look like Asia/Tokyo."


@server.tool("time_in", "Says what time it is in a time zone.", {"zone": ZONE}, annotations=READ)
def time_in(zone):
    found = zone_of(zone)
    return dt.datetime.now(found).strftime("%A, %x %X (%z)") if found else UNKNOWN


@server.tool("convert_time", "Converts a time of today from one time zone to another.", {"time": {"type": "string", "examples": ["14:30"]}, "from_zone": ZONE, "to_zone": ZONE}, annotations=READ)
def convert_time(time, from_zone, to_zone):
    a, b = zone_of(from_zone), zone_of(to_zone)
    try:
        clock = dt.time.fromisoformat(time.strip())
    except ValueError:
        return "A time looks like 14:30."
    if not a or not b:
        return UNKNOWN
    today = dt.datetime.combine(dt.datetime.now(a).date(), clock.replace(tzinfo=None), a)
    return today.astimezone(b).strftime("%A %H:%M")


@server.tool("find_zone", "Finds time zones whose name contains a word.", {"word": STRING}, annotations=READ)
def find_zone(word):
    names = sorted(n for n in zoneinfo.available_timezones() if word.lower() in n.lower())
    return "\n".join(names[:40]) or "No zone is called like this."


@server.tool("here", "Says which time zone and language this machine is set to.", annotations=READ)
def here():
    return {"zone": home_zone(), "language": locale.getlocale(locale.LC_TIME)[0] or os.environ.get("LANG") or "C", "now": dt.datetime.now().astimezone().isoformat(timespec="minutes")}


server.run()
