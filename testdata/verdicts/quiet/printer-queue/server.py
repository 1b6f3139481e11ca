"""Asks the office printer (PRINTER_URL, in the local network) for its state and its jobs, over IPP."""
import http.client
import os
import struct
from urllib.parse import urlsplit

from mcp import Server

URL = os.environ.get("PRINTER_URL", "ipp://192.168.1.50:631/ipp/print")
where = urlsplit(URL)
STATES = {3: "idle", 4: "printing", 5: "stopped"}
GET_JOBS, GET_PRINTER = 0x000A, 0x000B


def attribute(tag, name, value):
    return struct.pack(">BH", tag, len(name)) + name.encode() + struct.pack(">H", len(value)) + value.encode()


def ask(operation):
    body = struct.pack(">BBHI", 1, 1, operation, 1) + b"\x01" + attribute(0x47, "attributes-charset", "utf-8") \
        + attribute(0x48, "attributes-natural-language", "en") + attribute(0x45, "printer-uri", URL) + b"\x03"
    connection = http.client.HTTPConnection(where.hostname, where.port or 631, timeout=3)
    try:
        connection.request("POST", where.path or "/", body, {"Content-Type": "application/ipp"})
        response = connection.getresponse()
        return response.read(1 << 18) if response.getheader("Content-Type", "").startswith("application/ipp") else b""
    except (OSError, http.client.HTTPException):
        return b""
    finally:
        connection.close()


def attributes(data):
    """Yields (name, value) of an IPP answer; what is cut short or strange ends it."""
    at, name = 8, ""
    try:
        while at < len(data):
            tag = data[at]
            at += 1
            if tag == 3:
                return
            if tag < 0x10:
                yield "group", tag
                continue
            size, = struct.unpack_from(">H", data, at)
            name = data[at + 2:at + 2 + size].decode("ascii", "replace") or name
            at += 2 + size
            size, = struct.unpack_from(">H", data, at)
            value = data[at + 2:at + 2 + size]
            at += 2 + size
            yield name, int.from_bytes(value, "big") if tag in (0x21, 0x23) else value.decode("utf-8", "replace")
    except struct.error:
        return


server = Server("printer-queue", instructions="Speaks to the printer at %s in your own network and to nothing else." % URL)
LAN = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("printer_state", "Says whether the office printer is idle, printing or stopped.", annotations=LAN)
def printer_state():
    found = dict(attributes(ask(GET_PRINTER)))
    if "printer-state" not in found:
        return "The printer at %s does not answer; perhaps it sleeps." % where.hostname
    return {"name": found.get("printer-name"), "state": STATES.get(found["printer-state"], "unknown"), "reasons": found.get("printer-state-reasons")}


@server.tool("print_jobs", "Lists the jobs that wait at the office printer.", annotations=LAN)
def print_jobs():
    jobs = [str(value) for name, value in attributes(ask(GET_JOBS)) if name == "job-name"]
    return "\n".join(jobs) or "No jobs are waiting."


@server.tool("paper_needed", "Computes how many sheets a document needs.",
             {"pages": {"type": "integer", "minimum": 1}}, {"duplex": {"type": "boolean"}, "copies": {"type": "integer", "minimum": 1}}, annotations=LAN)
def paper_needed(pages, duplex=True, copies=1):
    if pages < 1 or copies < 1:
        return "No paper at all."
    return "%d sheets" % (-(-pages // (2 if duplex else 1)) * copies)


server.run()
