"""Reads when and how pictures were taken: headers of JPEG (EXIF), PNG and GIF."""
import os
import struct

from mcp import Server, STRING

server = Server("photo-dates", "1.0.0", instructions="Reads headers of picture files, any on this machine that you name.")
READ = {"readOnlyHint": True, "openWorldHint": False}
PHOTO = {**STRING, "description": "A picture on this machine, such as ~/Pictures/beach.jpg or images/photo.png"}
TAGS = {0x010F: "maker", 0x0110: "camera", 0x0132: "changed", 0x8769: "exif", 0x9003: "taken", 0x8827: "ISO"}


def exif(data):
    """The tags of a TIFF header (Exif 2.32, section 4.6)."""
    end = {b"II": "<", b"MM": ">"}.get(data[:2])
    if not end or len(data) < 8:
        return {}
    found, todo = {}, [struct.unpack_from(end + "I", data, 4)[0]]
    while todo and len(found) < 50:
        at = todo.pop()
        if at + 2 > len(data):
            continue
        for n in range(min(struct.unpack_from(end + "H", data, at)[0], 100)):
            if at + 14 + 12 * n > len(data):
                break
            tag, kind, count, value = struct.unpack_from(end + "HHII", data, at + 2 + 12 * n)
            if tag == 0x8769:
                todo.append(value)
            elif tag in TAGS and kind == 2:
                start = value if count > 4 else at + 10 + 12 * n
                found[TAGS[tag]] = data[start:start + min(count, 100)].rstrip(b"\0 ").decode("latin-1")
        if len(todo) > 4:
            break
    return found


def header(data):
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 26:
        width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
        return {"kind": "PNG", "width": width, "height": height, "bits": depth, "colour": colour}
    if data[:4] == b"GIF8" and len(data) >= 10:
        return {"kind": "GIF", **dict(zip(("width", "height"), struct.unpack_from("<HH", data, 6)))}
    if data[:2] != b"\xff\xd8":
        return None
    facts, at = {"kind": "JPEG"}, 2
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if marker == 0xE1 and data[at + 4:at + 10] == b"Exif\0\0":
            facts.update(exif(data[at + 10:at + 2 + length]))
        if 0xC0 <= marker <= 0xC2 and at + 9 <= len(data):
            facts["height"], facts["width"] = struct.unpack_from(">HH", data, at + 5)
        if marker == 0xDA:
            break
        at += 2 + length
    return facts


@server.tool("read_header", "Reads the header of a picture: size, camera, and when it was taken.", {"photo": PHOTO}, annotations=READ)
def read_header(photo):
    try:
        with open(os.path.expanduser(photo), "rb") as file:
            facts = header(file.read(262_144))
    except (OSError, ValueError):
        return "There is no such picture."
    return "\n".join("%s: %s" % f for f in facts.items()) if facts else "This is no JPEG, PNG or GIF."


@server.tool("megapixels", "Says how many megapixels a picture of some width and height has.", {"width": {"type": "integer", "minimum": 1}, "height": {"type": "integer", "minimum": 1}}, annotations=READ)
def megapixels(width, height):
    return "%.1f megapixels" % (width * height / 1e6)


server.run()
