"""Changes the case of names. Logs each call below the state directory, as the docs of the server say."""
import logging
import logging.handlers
import os
import pathlib
import re
import time
import unicodedata

from mcp import Server, STRING

log = logging.getLogger("text-case")


def set_up_logging():
    base = pathlib.Path(os.environ.get("XDG_STATE_HOME") or pathlib.Path.home() / ".local" / "state") / "text-case"
    level = os.environ.get("TEXT_CASE_LOG", "INFO").upper()
    try:
        base.mkdir(parents=True, exist_ok=True)
        handler = logging.handlers.RotatingFileHandler(base / "server.log", maxBytes=4096, backupCount=2, encoding="utf-8", errors="replace")
    except OSError:
        handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(level if level in ("DEBUG", "INFO", "WARNING", "ERROR") else "INFO")


def words(text):
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", plain)


STYLES = {
    "snake": lambda w: "_".join(x.lower() for x in w),
    "kebab": lambda w: "-".join(x.lower() for x in w),
    "pascal": lambda w: "".join(x.capitalize() for x in w),
    "constant": lambda w: "_".join(x.upper() for x in w),
    "title": lambda w: " ".join(x.capitalize() for x in w),
}

server = Server("text-case", "0.7.0", instructions=(
    "A log of calls (tool, style, number of characters, duration; never the text) is kept in ~/.local/state/text-case/server.log "
    "and rotated at 4 KiB. TEXT_CASE_LOG=ERROR turns it off."))
server.started = lambda: log.info("client %s", server.client.get("clientInfo", {}).get("name", "unknown")[:40])


@server.tool("convert_case", "Writes a name in another style. Adds a line to the log in ~/.local/state/text-case.",
             {"text": STRING, "style": {"type": "string", "enum": list(STYLES)}},
             annotations={"destructiveHint": False, "openWorldHint": False})
def convert_case(text, style):
    begin = time.perf_counter()
    if style not in STYLES:
        log.warning("convert_case unknown style")
        return "Styles: " + ", ".join(STYLES)
    result = STYLES[style](words(text))
    log.info("convert_case %s %d characters %.1f ms", style, len(text), (time.perf_counter() - begin) * 1000)
    return result or "(no letters in it)"


@server.tool("slugify", "Makes a part of an address out of a heading. Adds a line to the log in ~/.local/state/text-case.",
             {"heading": STRING}, {"max_length": {"type": "integer", "minimum": 5, "maximum": 120}},
             annotations={"destructiveHint": False, "openWorldHint": False})
def slugify(heading, max_length=60):
    slug = STYLES["kebab"](words(heading))[:max(5, min(max_length, 120))].strip("-")
    log.info("slugify %d characters", len(heading))
    return slug or "untitled"


set_up_logging()
server.run()
