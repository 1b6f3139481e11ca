"""chart-png: small charts as PNG, drawn here and without any library. save_chart is the only tool that writes a file."""
import base64
import math
import os
import re
import struct
import tempfile
import zlib
from pathlib import Path

from mcp import STRING, Server

WIDTH, HEIGHT, MARGIN = 480, 270, 12
WHITE, GREY = (255, 255, 255), (205, 205, 205)
COLOURS = {"blue": (49, 104, 176), "green": (56, 142, 70), "orange": (230, 126, 34), "red": (192, 57, 43)}
KINDS = ["bars", "line", "histogram"]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,59}")


class Canvas:
    def __init__(self):
        self.rows = [bytearray(bytes(WHITE) * WIDTH) for _ in range(HEIGHT)]

    def fill(self, x0, y0, x1, y1, colour):
        x0, x1 = max(0, int(x0)), min(WIDTH, int(x1))
        for y in range(max(0, int(y0)), min(HEIGHT, int(y1))):
            self.rows[y][3 * x0:3 * x1] = bytes(colour) * (x1 - x0)

    def line(self, x0, y0, x1, y1, colour):
        steps = int(max(abs(x1 - x0), abs(y1 - y0), 1))
        for i in range(steps + 1):
            x, y = x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps
            self.fill(x - 1, y - 1, x + 1, y + 1, colour)

    def png(self, text):
        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
                + chunk(b"tEXt", b"Description\0" + text.encode("latin-1", "replace"))
                + chunk(b"IDAT", zlib.compress(b"".join(b"\0" + bytes(row) for row in self.rows), 9)) + chunk(b"IEND", b""))


def numbers(values):
    if not 1 <= len(values) <= 2000 or not all(isinstance(v, (int, float)) and not isinstance(v, bool) and abs(v) < 1e15 for v in values):
        raise ValueError("values are 1 to 2000 numbers")
    return [float(v) for v in values]


def binned(values):
    low, high = min(values), max(values)
    count = min(40, max(1, math.ceil(math.log2(len(values)) + 1)))  # Sturges
    bins = [0.0] * count
    for v in values:
        bins[min(count - 1, int((v - low) / ((high - low) or 1) * count))] += 1
    return bins, "%d bins from %g to %g" % (count, low, high)


def draw(kind, values, colour):
    if kind not in KINDS or colour not in COLOURS:
        raise ValueError("kinds: %s; colours: %s" % (", ".join(KINDS), ", ".join(COLOURS)))
    values, text = numbers(values), "%d values" % len(values)
    if kind == "histogram":
        values, text = binned(values)
    low, high = min(0.0, *values), max(0.0, *values)
    text += ", axis from %g to %g" % (low, high)
    span = (high - low) or 1.0

    def y(value):
        return MARGIN + (high - value) / span * (HEIGHT - 2 * MARGIN)

    canvas = Canvas()
    for part in range(5):
        height = y(low + span * part / 4)
        canvas.fill(MARGIN, height, WIDTH - MARGIN, height + 1, GREY)
    step = (WIDTH - 2 * MARGIN) / len(values)
    if kind == "line":
        points = [(MARGIN + step * (i + 0.5), y(v)) for i, v in enumerate(values)]
        for (x0, y0), (x1, y1) in zip(points, points[1:] or points):
            canvas.line(x0, y0, x1, y1, COLOURS[colour])
    else:
        gap = step * 0.15 if kind == "bars" else 0
        for i, v in enumerate(values):
            canvas.fill(MARGIN + step * i + gap, min(y(v), y(0)), max(MARGIN + step * (i + 1) - gap, MARGIN + step * i + gap + 1), max(y(v), y(0)) + 1, COLOURS[colour])
    return canvas.png(text), text


server = Server("chart-png", version="0.4.4")
DATA = {"kind": {**STRING, "enum": KINDS}, "values": {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 2000}}
LOOK = {"colour": {**STRING, "enum": list(COLOURS)}}


@server.tool("draw_chart", "Draws numbers as bars, a line or a histogram and answers a PNG image of %d × %d pixels." % (WIDTH, HEIGHT), DATA, LOOK, annotations={"readOnlyHint": True, "openWorldHint": False})
def draw_chart(kind, values, colour="blue"):
    image, text = draw(kind, values, colour)
    return {"content": [{"type": "image", "data": base64.b64encode(image).decode(), "mimeType": "image/png"}, {"type": "text", "text": text}]}


@server.tool("save_chart", "Draws a chart and saves it as charts/NAME.png in the working folder, over an older chart of that name.", {"name": {**STRING, "pattern": "^%s$" % NAME.pattern}, **DATA}, LOOK,
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def save_chart(name, kind, values, colour="blue"):
    if not NAME.fullmatch(name):
        raise ValueError("a name has letters, digits, - and _")
    image, text = draw(kind, values, colour)
    folder = Path("charts")
    folder.mkdir(exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, suffix=".tmp", delete=False) as out:
        out.write(image)
    os.chmod(out.name, 0o644)
    os.replace(out.name, folder / (name + ".png"))
    return "Saved charts/%s.png (%s)." % (name, text)


server.run()
