#!/usr/bin/env python3
"""snmp-counters: system values and port counters of switches and printers, over SNMP v2c. Reads only.

SNMP_DEVICES names the devices (switch=192.0.2.2,printer=192.0.2.3:1161), SNMP_COMMUNITY the community to read with."""
import os
import random
import re
import socket
import time

from mcp import Server


def configured():
    devices = {}
    for entry in filter(None, (e.strip() for e in os.environ.get("SNMP_DEVICES", "").split(","))):
        found = re.fullmatch(r"([\w-]{1,40})=([\w.-]{1,253})(?::(\d{1,5}))?", entry)
        if not found:
            raise SystemExit("SNMP_DEVICES: %r is not NAME=HOST or NAME=HOST:PORT" % entry)
        devices[found[1]] = (found[2], int(found[3] or 161))
    return devices


DEVICES = configured()
COMMUNITY = os.environ.get("SNMP_COMMUNITY", "public").encode()
SYSTEM = {"1.3.6.1.2.1.1.1.0": "description", "1.3.6.1.2.1.1.3.0": "uptime", "1.3.6.1.2.1.1.5.0": "name", "1.3.6.1.2.1.1.6.0": "place"}
COLUMNS = {"1.3.6.1.2.1.2.2.1.2": "port", "1.3.6.1.2.1.2.2.1.8": "state", "1.3.6.1.2.1.31.1.1.1.6": "in", "1.3.6.1.2.1.31.1.1.1.10": "out", "1.3.6.1.2.1.2.2.1.14": "errors"}

server = Server("snmp-counters", version="0.2.4", instructions="Devices (SNMP_DEVICES): %s. They are asked over UDP; nothing on them is changed." % (", ".join(DEVICES) or "none"))


def tlv(tag, data):
    size = len(data)
    head = bytes([size]) if size < 128 else bytes([0x82]) + size.to_bytes(2, "big")
    return bytes([tag]) + head + data


def integer(value):
    return tlv(2, value.to_bytes(value.bit_length() // 8 + 1, "big", signed=True))


def oid(text):
    numbers = [int(n) for n in text.split(".")]
    out = bytearray([numbers[0] * 40 + numbers[1]])
    for n in numbers[2:]:
        out += bytes([0x80 | n >> shift & 0x7F for shift in range(7 * ((max(n.bit_length(), 1) - 1) // 7), 0, -7)] + [n & 0x7F])
    return tlv(6, bytes(out))


def take(data, at):
    """The tag, the contents and the end of the element at this place."""
    tag, size, at = data[at], data[at + 1], at + 2
    if size & 0x80:
        count = size & 0x7F
        size, at = int.from_bytes(data[at:at + count], "big"), at + count
    if at + size > len(data):
        raise ValueError("the answer is cut off")
    return tag, data[at:at + size], at + size


def name_of(raw):
    numbers, value = [raw[0] // 40, raw[0] % 40], 0
    for byte in raw[1:]:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers, value = numbers + [value], 0
    return ".".join(map(str, numbers))


def ask(device, kind, oids):
    """GetRequest (0xA0) or GetNextRequest (0xA1), tried three times."""
    address, ident = DEVICES[device], random.randrange(1, 2**31 - 1)
    bindings = tlv(0x30, b"".join(tlv(0x30, oid(o) + tlv(5, b"")) for o in oids))
    packet = tlv(0x30, integer(1) + tlv(4, COMMUNITY) + tlv(kind, integer(ident) + integer(0) + integer(0) + bindings))
    try:
        info = socket.getaddrinfo(*address, type=socket.SOCK_DGRAM)[0]
        with socket.socket(info[0], socket.SOCK_DGRAM) as sock:
            sock.settimeout(1)
            sock.connect(info[4])
            for _ in range(3):
                sock.send(packet)
                try:
                    answer = sock.recv(65535)
                except TimeoutError:
                    continue
                message = take(answer, 0)[1]
                pdu = take(message, take(message, take(message, 0)[2])[2])[1]
                tag, number, at = take(pdu, 0)
                if int.from_bytes(number, "big") != ident:
                    continue
                at = take(pdu, take(pdu, at)[2])[2]
                rest, found, at = take(pdu, at)[1], [], 0
                while at < len(rest):
                    _, binding, at = take(rest, at)
                    _, key, after = take(binding, 0)
                    tag, value, _ = take(binding, after)
                    found.append((name_of(key), None if tag in (5, 0x80, 0x81, 0x82) else value.decode("utf-8", "replace") if tag == 4 else int.from_bytes(value, "big")))
                return found
    except (OSError, IndexError, ValueError) as error:
        raise RuntimeError("%s (%s): %s" % (device, address[0], error)) from None
    raise RuntimeError("%s (%s port %d) does not answer; is SNMP on, and the community right?" % (device, *address))


DEVICE = {"type": "string", "description": "one of " + ", ".join(DEVICES), "examples": list(DEVICES)[:1]}


def known(device):
    if device not in DEVICES:
        raise ValueError("device is one of " + (", ".join(DEVICES) or "none, as SNMP_DEVICES is not set"))
    return device


@server.tool("device_status", "Reads name, place, description and uptime of a configured device over SNMP.", required={"device": DEVICE}, annotations={"readOnlyHint": True})
def device_status(device):
    values = {SYSTEM.get(k, k): v for k, v in ask(known(device), 0xA0, list(SYSTEM))}
    if isinstance(values.get("uptime"), int):
        values["uptime"] = "%.1f days" % (values["uptime"] / 8640000)
    return "\n".join("%s: %s" % v for v in values.items())


@server.tool("port_counters", "Reads state, octets and errors of each port of a configured device over SNMP.", required={"device": DEVICE}, annotations={"readOnlyHint": True})
def port_counters(device):
    known(device)
    rows, at, end = [], list(COLUMNS), time.monotonic() + 20
    while len(rows) < 256 and time.monotonic() < end:
        found = ask(device, 0xA1, at)
        if len(found) != len(COLUMNS) or not found[0][0].startswith(at[0].rsplit(".", 1)[0] if rows else at[0]) or not found[0][0].startswith("1.3.6.1.2.1.2.2.1.2."):
            break
        rows.append({COLUMNS[c]: v for c, (_, v) in zip(COLUMNS, found)})
        at = [o for o, _ in found]
    states = {1: "up", 2: "down"}
    return "\n".join("%s: %s, in %s, out %s, errors %s" % (r["port"], states.get(r["state"], "other"), r["in"], r["out"], r["errors"]) for r in rows) or "The device shows no ports."


server.run()
