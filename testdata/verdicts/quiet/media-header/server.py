"""Says what is in images and sounds (PNG, GIF, JPEG, WAV, PDF) that are given in base64, and makes small ones to try."""
import base64
import binascii
import io
import math
import re
import struct
import wave
import zlib

from mcp import Server, STRING

server = Server("media-header", "1.2.0")
PURE = {"readOnlyHint": True, "openWorldHint": False}
MAX = 8 << 20


def png_of(width, height, rgb):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = (b"\0" + bytes(rgb) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def png(data):
    width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
    at, kinds = 8, []
    while at + 8 <= len(data) and len(kinds) < 100:
        size, kind = struct.unpack_from(">I4s", data, at)
        kinds.append(kind.decode("latin-1"))
        at += 12 + size
    return {"kind": "PNG", "width": width, "height": height, "bits": depth, "colour_type": colour, "chunks": kinds}


def jpeg(data):
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        marker, size = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", data, at + 5)
            return {"kind": "JPEG", "width": width, "height": height, "progressive": marker == 0xC2}
        at += 2 + size
    return {"kind": "JPEG"}


def wav(data):
    with wave.open(io.BytesIO(data)) as sound:
        return {"kind": "WAV", "channels": sound.getnchannels(), "rate": sound.getframerate(), "seconds": round(sound.getnframes() / (sound.getframerate() or 1), 3)}


def pdf(data):
    pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", data))
    return {"kind": "PDF", "version": data[5:8].decode("latin-1"), "pages": pages or "in compressed objects", "encrypted": b"/Encrypt" in data}


def gif(data):
    width, height = struct.unpack_from("<HH", data, 6)
    return {"kind": "GIF", "width": width, "height": height}


FORMATS = [(b"\x89PNG\r\n\x1a\n", png), (b"\xff\xd8", jpeg), (b"RIFF", wav), (b"%PDF-", pdf), (b"GIF8", gif)]


@server.tool("inspect_media", "Says what kind of image, sound or PDF a base64 text is, and how large.", {"data": {"type": "string", "contentEncoding": "base64", "examples": [base64.b64encode(png_of(2, 2, (255, 0, 0))).decode()]}}, annotations=PURE)
def inspect_media(data):
    try:
        raw = base64.b64decode(data.partition("base64,")[2] if data.startswith("data:") else data)
    except (binascii.Error, ValueError):
        return "That is not base64."
    for magic, read in FORMATS:
        if raw.startswith(magic) and len(raw) <= MAX:
            try:
                return {**read(raw), "bytes": len(raw)}
            except (struct.error, wave.Error, EOFError, IndexError):
                return "It begins like %s but is damaged." % read.__name__.upper()
    return "%d bytes of no kind that is known here (PNG, GIF, JPEG, WAV, PDF)." % len(raw)


@server.tool("make_swatch", "Makes a small PNG of one colour.", {"color": {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$", "examples": ["#3366cc"]}}, {"size": {"type": "integer", "minimum": 1, "maximum": 256}}, annotations=PURE)
def make_swatch(color, size=32):
    if not re.fullmatch(r"#[0-9a-fA-F]{6}", color):
        return "A colour looks like #3366cc."
    size = max(1, min(size, 256))
    return {"content": [{"type": "image", "mimeType": "image/png", "data": base64.b64encode(png_of(size, size, bytes.fromhex(color[1:]))).decode()}]}


@server.tool("make_tone", "Makes a short WAV with a tone.", {"hertz": {"type": "number", "minimum": 20, "maximum": 4000}}, annotations=PURE)
def make_tone(hertz):
    hertz, out = max(20.0, min(float(hertz), 4000.0)), io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(8000)
        sound.writeframes(bytes(int(128 + 100 * math.sin(2 * math.pi * hertz * t / 8000)) for t in range(2000)))
    return {"content": [{"type": "audio", "mimeType": "audio/wav", "data": base64.b64encode(out.getvalue()).decode()}]}


server.run()
