"""ssdp-search: which UPnP devices (routers, televisions, speakers, printers) answer on the local network."""
import html
import http.client
import ipaddress
import re
import socket
import time
from urllib.parse import urlsplit

from mcp import STRING, Server

GROUP = ("239.255.255.250", 1900)
KINDS = {"all": "ssdp:all", "root devices": "upnp:rootdevice", "routers": "urn:schemas-upnp-org:device:InternetGatewayDevice:1",
         "media renderers": "urn:schemas-upnp-org:device:MediaRenderer:1", "media servers": "urn:schemas-upnp-org:device:MediaServer:1"}
devices = {}  # number -> what a device answered, of the latest search

server = Server("ssdp-search", version="1.0.4", instructions="A search sends one SSDP question to the multicast group 239.255.255.250:1900 of the local network and listens for a few seconds. Only devices that answered can be described.")


def search_once(target, seconds):
    question = "\r\n".join(["M-SEARCH * HTTP/1.1", "HOST: %s:%d" % GROUP, 'MAN: "ssdp:discover"', "MX: %d" % max(1, seconds - 1), "ST: " + target, "", ""])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 2)
        for _ in range(2):  # UDP may lose one
            udp.sendto(question.encode(), GROUP)
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            udp.settimeout(left)
            try:
                data, (address, _) = udp.recvfrom(4096)
            except TimeoutError:
                return
            first, *lines = data.decode("utf-8", "replace").split("\r\n")
            if first.startswith("HTTP/1.1 200"):
                yield address, {k.strip().upper(): v.strip()[:300] for k, _, v in (line.partition(":") for line in lines) if k}


@server.tool("search_devices", "Asks the local network by SSDP multicast for UPnP devices and lists those that answer.", optional={"kind": {**STRING, "enum": list(KINDS)}, "seconds": {"type": "integer", "minimum": 2, "maximum": 6}},
             annotations={"title": "Search for UPnP devices", "readOnlyHint": True, "openWorldHint": True})
def search_devices(kind="root devices", seconds=3):
    if kind not in KINDS:
        return "Kinds: " + ", ".join(KINDS)
    found = {}
    for address, headers in search_once(KINDS[kind], max(2, min(6, seconds))):
        found.setdefault((address, headers.get("LOCATION", "")), headers)
    devices.clear()
    for number, ((address, location), headers) in enumerate(sorted(found.items()), 1):
        devices[number] = {"address": address, "location": location, "server": headers.get("SERVER", "unknown software")}
    return listed()


def listed():
    return "\n".join("%d. %s  %s" % (n, d["address"], d["server"]) for n, d in devices.items()) or "No device answered."


@server.tool("last_devices", "Lists the devices of the latest search again, without asking the network.", annotations={"readOnlyHint": True, "openWorldHint": False})
def last_devices():
    return listed() if devices else "There was no search yet, or nothing answered."


def fetch(device):
    """Gets a description, but only from the device that named it: anyone on the network may send any LOCATION."""
    url = urlsplit(device["location"])
    if url.scheme != "http" or url.hostname != device["address"] or not ipaddress.ip_address(device["address"]).is_private:
        raise ValueError("the device names a description at %s, which is not its own address" % (url.netloc or "no host"))
    link = http.client.HTTPConnection(url.hostname, url.port or 80, timeout=4)
    try:
        link.request("GET", (url.path or "/") + ("?" + url.query if url.query else ""), headers={"User-Agent": "ssdp-search/1.0"})
        reply = link.getresponse()
        if reply.status != 200:
            raise ValueError("the device answered %d" % reply.status)
        return reply.read(65536).decode("utf-8", "replace")
    finally:
        link.close()


@server.tool("describe_device", "Reads name, maker, model and services of a device that the latest search found, from the device itself over HTTP.", {"number": {"type": "integer", "minimum": 1}},
             annotations={"readOnlyHint": True, "openWorldHint": True})
def describe_device(number):
    if number not in devices:
        return "The latest search found no device with this number."
    xml = fetch(devices[number])

    def every(tag):
        return [html.unescape(text.strip())[:200] for text in re.findall(r"<%s>([^<]*)</%s>" % (tag, tag), xml)]

    lines = ["%s: %s" % (tag, values[0]) for tag in ("friendlyName", "manufacturer", "modelName", "modelNumber", "UDN") if (values := every(tag))]
    services = every("serviceType")
    return "\n".join(lines + ["service: " + s for s in services[:30]]) or "The description is not one of UPnP."


server.run()
