#!/usr/bin/env python3
"""wav-bench FOLDER: measures, trims and makes WAV files in one folder. PCM of 16 bits; originals are never overwritten."""
import array
import math
import os
import re
import sys
import wave
from pathlib import Path

from mcp import Server

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
NAME = re.compile(r"[\w][\w .()-]{0,99}\.wav", re.IGNORECASE)
MOST_FRAMES = 48000 * 60 * 30
FILE = {"type": "string", "description": "a .wav file in the folder", "examples": ["take-1.wav"]}
TARGET = {"type": "string", "description": "the new .wav file; must not exist yet", "examples": ["tone.wav"]}
NEW = {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False}

server = Server("wav-bench", version="1.1.0")


class Wrong(ValueError):
    """An argument or a file that will not do."""


def path(name, what="file"):
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise Wrong("%s is the name of a .wav file in the folder, without a path" % what)
    return FOLDER / name


def number(value, what, low, high):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value) or not low <= value <= high:
        raise Wrong("%s is a number from %g to %g" % (what, low, high))
    return value


def load(name):
    file = path(name)
    if file.is_symlink() or not file.is_file():
        raise Wrong("%s has no file %s" % (FOLDER, name))
    with wave.open(str(file)) as w:
        if w.getsampwidth() != 2:
            raise Wrong("%s has %d bits for a sample; only 16 are supported" % (name, w.getsampwidth() * 8))
        if w.getnframes() > MOST_FRAMES:
            raise Wrong("%s is longer than half an hour" % name)
        samples = array.array("h")
        raw = w.readframes(w.getnframes())
        samples.frombytes(raw[:len(raw) - len(raw) % (2 * w.getnchannels())])
        if sys.byteorder == "big":
            samples.byteswap()
        return w.getframerate(), w.getnchannels(), samples


def save(name, rate, channels, samples):
    file = path(name, "target")
    part = file.with_name(".%s.part" % file.name)
    if sys.byteorder == "big":
        samples.byteswap()
    try:
        with open(part, "xb") as out, wave.open(out, "wb") as w:
            w.setnchannels(channels)
            w.setsampwidth(2)
            w.setframerate(rate)
            w.writeframes(samples.tobytes())
        os.link(part, file)  # fails if there is such a file already
    except FileExistsError:
        raise Wrong("there is a file %s already" % name) from None
    finally:
        part.unlink(missing_ok=True)
    return "Wrote %s: %.2f s." % (file, len(samples) / channels / rate)


@server.tool("measure", "Measures a WAV file in %s: length, peak, RMS and clipping." % FOLDER, required={"file": FILE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def measure(file):
    rate, channels, samples = load(file)
    peak = max((abs(s) for s in samples), default=0)
    mean = math.sqrt(sum(s * s for s in samples) / len(samples)) if samples else 0
    level = lambda v: "%.1f dBFS" % (20 * math.log10(v / 32768)) if v else "silent"
    clipped = sum(1 for s in samples if s in (32767, -32768))
    return "%d Hz, %d channels, %.2f s, peak %s, RMS %s, %d clipped samples" % (rate, channels, len(samples) / channels / rate, level(peak), level(mean), clipped)


@server.tool("trim", "Writes the part of a WAV file between two times to a new file in the same folder.",
             required={"file": FILE, "start": {"type": "number", "description": "seconds"}, "end": {"type": "number", "description": "seconds"}, "target": TARGET}, annotations=NEW)
def trim(file, start, end, target):
    rate, channels, samples = load(file)
    if number(end, "end", 0, 1800) <= number(start, "start", 0, 1800):
        raise Wrong("end comes after start")
    return save(target, rate, channels, samples[int(start * rate) * channels:int(end * rate) * channels])


@server.tool("tone", "Writes a sine tone to a new WAV file in %s." % FOLDER,
             required={"hertz": {"type": "number", "minimum": 20, "maximum": 20000}, "seconds": {"type": "number", "minimum": 0.05, "maximum": 60}, "target": TARGET},
             optional={"dbfs": {"type": "number", "default": -12, "minimum": -90, "maximum": 0}}, annotations=NEW)
def tone(hertz, seconds, target, dbfs=-12):
    number(hertz, "hertz", 20, 20000)
    gain = 10 ** (number(dbfs, "dbfs", -90, 0) / 20) * 32767
    frames = int(number(seconds, "seconds", 0.05, 60) * 48000)
    ramp = lambda i: min(1, i / 480, (frames - 1 - i) / 480)  # ten milliseconds, against clicks
    return save(target, 48000, 1, array.array("h", (int(gain * ramp(i) * math.sin(2 * math.pi * hertz * i / 48000)) for i in range(frames))))


server.run()
