#!/usr/bin/env python3
"""srt-tools: subtitles in SubRip (.srt) and WebVTT format, as text. Times are kept in milliseconds."""
import json
import re
import sys
from dataclasses import dataclass

TIME = r"(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[,.](\d{1,3})"
CUE = re.compile(r"^\s*%s\s*-->\s*%s(.*)$" % (TIME, TIME))


@dataclass
class Cue:
    start: int
    end: int
    text: str


def milliseconds(h, m, s, f):
    return ((int(h or 0) * 60 + int(m)) * 60 + int(s)) * 1000 + int(f.ljust(3, "0"))


def parse(text):
    """Reads SRT or VTT; numbers, notes and styles are dropped."""
    cues = []
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").lstrip("\ufeff")):
        lines = block.strip("\n").split("\n")
        for i, line in enumerate(lines[:3]):
            match = CUE.match(line)
            if match:
                g = match.groups()
                cues.append(Cue(milliseconds(*g[0:4]), milliseconds(*g[4:8]), "\n".join(lines[i + 1:]).strip()))
                break
    if not cues:
        raise ValueError("no subtitles found; expected lines such as 00:00:01,000 --> 00:00:02,500")
    return cues


def stamp(ms, point):
    ms = max(0, round(ms))
    return "%02d:%02d:%02d%s%03d" % (ms // 3600000, ms // 60000 % 60, ms // 1000 % 60, point, ms % 1000)


def srt(cues):
    return "\n".join("%d\n%s --> %s\n%s\n" % (n, stamp(c.start, ","), stamp(c.end, ","), c.text) for n, c in enumerate(cues, 1))


def vtt(cues):
    return "WEBVTT\n\n" + "\n".join("%s --> %s\n%s\n" % (stamp(c.start, "."), stamp(c.end, "."), c.text) for c in cues)


def shift_subtitles(subtitles, seconds, after=0):
    cues, by = parse(subtitles), seconds * 1000
    if abs(seconds) > 86400:
        raise ValueError("a day at most")
    moved = [Cue(c.start + by, c.end + by, c.text) if c.start >= after * 1000 else c for c in cues]
    return srt([c for c in moved if c.end > 0])


def check_subtitles(subtitles, characters_per_second=20, line_length=42):
    found, before = [], None
    for n, cue in enumerate(parse(subtitles), 1):
        plain = re.sub(r"<[^>]*>|\{\\[^}]*\}", "", cue.text)
        length = (cue.end - cue.start) / 1000
        if length <= 0:
            found.append("%d: ends before it starts" % n)
        elif len(plain.replace("\n", " ")) / length > characters_per_second:
            found.append("%d: %.0f characters a second" % (n, len(plain) / length))
        if before and cue.start < before.end:
            found.append("%d: starts before %d ends" % (n, n - 1))
        if plain.count("\n") > 1 or max(map(len, plain.split("\n"))) > line_length:
            found.append("%d: more than two lines of %d characters" % (n, line_length))
        if not plain.strip():
            found.append("%d: empty" % n)
        before = cue
    return "\n".join(found) or "Nothing to complain about."


def convert_subtitles(subtitles, to):
    cues = parse(subtitles)
    if to == "text":
        return "\n".join(re.sub(r"<[^>]*>", "", c.text).replace("\n", " ") for c in cues)
    if to not in ("srt", "vtt"):
        raise ValueError("to is srt, vtt or text")
    return vtt(cues) if to == "vtt" else srt(cues)


SUBTITLES = {"type": "string", "description": "The content of an .srt or .vtt file"}
NUMBER = {"type": "number"}
TOOLS = {
    "shift_subtitles": (shift_subtitles, "Moves subtitles by some seconds, earlier if negative; with after, only those that start later than that.",
                        {"subtitles": SUBTITLES, "seconds": NUMBER, "after": {"type": "number", "description": "Seconds", "default": 0}}, 2),
    "check_subtitles": (check_subtitles, "Finds subtitles that overlap, are too fast to read, too long or empty.",
                        {"subtitles": SUBTITLES, "characters_per_second": {"type": "number", "default": 20}, "line_length": {"type": "integer", "default": 42}}, 1),
    "convert_subtitles": (convert_subtitles, "Converts subtitles to SRT, to WebVTT or to plain text.", {"subtitles": SUBTITLES, "to": {"type": "string", "enum": ["srt", "vtt", "text"]}}, 2),
}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "srt-tools", "version": "0.2.0"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "description": text, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)[:needed]},
                           "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}} for name, (_, text, properties, needed) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        function, _, properties, needed = TOOLS[params["name"]]
        try:
            args = {k: v for k, v in (params.get("arguments") or {}).items() if k in properties}
            for key in list(properties)[:needed]:
                if key not in args:
                    raise ValueError("%s is missing" % key)
            for key, value in args.items():
                text = properties[key]["type"] == "string"
                if isinstance(value, bool) or not isinstance(value, str if text else (int, float)):
                    raise ValueError("%s has to be a %s" % (key, "text" if text else "number"))
            return {"content": [{"type": "text", "text": function(**args)}]}
        except (ValueError, AttributeError, ArithmeticError) as e:
            return {"content": [{"type": "text", "text": str(e)}], "isError": True}
    return {} if method == "ping" else None


for line in sys.stdin:
    try:
        message = json.loads(line)
        id, method, params = message["id"], message["method"], message.get("params") or {}
        result = handle(method, params)
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    answer = {"result": result} if result is not None else {"error": {"code": -32601, "message": "Method not found"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id, **answer}) + "\n")
    sys.stdout.flush()
