"""Says under which addresses this machine can be reached in its own network, e.g. to open a development server on a phone."""
import ipaddress
import socket

from mcp import Server

server = Server("own-address", "0.2.0")
LOCAL = {"readOnlyHint": True, "openWorldHint": False}


def outward(family, target):
    # Connecting a UDP socket sends nothing; it only makes the kernel pick the interface and its address.
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(target)
            return probe.getsockname()[0]
        except OSError:
            return None


@server.tool("lan_address", "Says this machine's address in the local network. Nothing is sent.",
             optional={"ipv6": {"type": "boolean", "default": False}}, annotations=LOCAL)
def lan_address(ipv6=False):
    address = outward(socket.AF_INET6, ("2001:db8::1", 9)) if ipv6 else outward(socket.AF_INET, ("192.0.2.1", 9))
    return address or "This machine is in no %s network." % ("IPv6" if ipv6 else "IPv4")


@server.tool("dev_url", "Makes the address under which a phone in the same network opens a development server that runs here.",
             {"port": {"type": "integer", "minimum": 1, "maximum": 65535}},
             {"scheme": {"type": "string", "enum": ["http", "https"]}}, annotations=LOCAL)
def dev_url(port, scheme="http"):
    if not 1 <= port <= 65535 or scheme not in ("http", "https"):
        return "A port lies between 1 and 65535, and the scheme is http or https."
    address = outward(socket.AF_INET, ("192.0.2.1", 9)) or "127.0.0.1"
    return "%s://%s:%d/" % (scheme, address, port)


@server.tool("kind_of_address", "Says whether an address is private, of this machine, for documentation or public. Nothing is looked up.",
             {"address": {"type": "string", "examples": ["192.168.1.10", "fe80::1"]}}, annotations=LOCAL)
def kind_of_address(address):
    try:
        ip = ipaddress.ip_address(address.strip())
    except ValueError:
        return "That is no IP address."
    kinds = [name for name in ("is_loopback", "is_link_local", "is_multicast", "is_private", "is_global") if getattr(ip, name)]
    return "%s: %s" % (ip.compressed, ", ".join(k[3:].replace("_", " ") for k in kinds) or "reserved")


@server.tool("interfaces", "Lists the network interfaces of this machine by name.", annotations=LOCAL)
def interfaces():
    return {"host": socket.gethostname(), "interfaces": [name for _, name in socket.if_nameindex()]}


server.run()
