"""Says how long the certificates of web sites last. Makes the TLS handshake and closes the connection; no request is sent."""
import concurrent.futures
import datetime
import re
import socket
import ssl

from mcp import Server

NAME = re.compile(r"(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,24}", re.I)
INTERNAL = (".local", ".localhost", ".internal", ".lan", ".home", ".intranet", ".corp")
HOST = {"type": "string", "format": "hostname", "description": "public name of a web site", "examples": ["www.debian.org"]}

server = Server("tls-expiry", "0.8.2", instructions="Connects to port 443 of the sites that you name, and only for the handshake.")
WEB = {"readOnlyHint": True, "openWorldHint": True}


def check(host):
    if not NAME.fullmatch(host) or host.lower().endswith(INTERNAL):
        return "%s: not the public name of a site" % ascii(host[:80])
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        with socket.create_connection((host, 443), timeout=5) as raw, context.wrap_socket(raw, server_hostname=host) as tls:
            certificate, version = tls.getpeercert(), tls.version()
    except ssl.SSLCertVerificationError as error:
        return "%s: not valid (%s)" % (host, error.verify_message)
    except OSError as error:
        return "%s: no TLS (%s)" % (host, type(error).__name__)
    ends = datetime.datetime.fromtimestamp(ssl.cert_time_to_seconds(certificate["notAfter"]), datetime.timezone.utc)
    days = (ends - datetime.datetime.now(datetime.timezone.utc)).days
    return "%s: %d days left, until %s, %s" % (host, days, ends.date(), version)


@server.tool("check_certificate", "Connects to port 443 of a site and says how long its certificate lasts.", {"host": HOST}, annotations=WEB)
def check_certificate(host):
    return check(host.strip())


@server.tool("check_many", "Says how long the certificates of several sites last, the shortest first.",
             {"hosts": {"type": "array", "items": HOST, "maxItems": 10}}, annotations=WEB)
def check_many(hosts):
    names = list(dict.fromkeys(str(h).strip() for h in hosts))[:10]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        lines = list(pool.map(check, names))
    days = re.compile(r": (-?\d+) days")
    lines.sort(key=lambda line: int(days.search(line)[1]) if days.search(line) else -1)
    return "\n".join(lines) or "No sites given."


@server.tool("renew_on", "Computes the day on which to renew a certificate that ends on a date, a third of its life before.",
             {"ends": {"type": "string", "format": "date"}}, {"lasts_days": {"type": "integer", "minimum": 1, "maximum": 825}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def renew_on(ends, lasts_days=90):
    try:
        return str(datetime.date.fromisoformat(ends[:10]) - datetime.timedelta(days=max(1, min(lasts_days, 825)) // 3))
    except (ValueError, OverflowError):
        return "A date looks like 2026-03-31."


server.run()
