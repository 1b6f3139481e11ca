"""localhost-certs: self-signed certificates for development, made by openssl in ./certs.

A certificate is only ever made for names that cannot be on the internet: localhost, *.localhost, *.test, *.internal and loopback addresses."""
import ipaddress
import os
import pathlib
import re
import subprocess
import tempfile

from mcp import STRING, Server

FOLDER = pathlib.Path("certs")
HOST = re.compile(r"(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,40}[a-z0-9])?\.){0,4}(?:localhost|test|internal)")

CONFIG = """[req]
distinguished_name=name
x509_extensions=extensions
prompt=no
[name]
O=localhost-certs
[extensions]
subjectAltName=%s
basicConstraints=critical,CA:FALSE
extendedKeyUsage=serverAuth
"""


def openssl(*words):
    try:
        done = subprocess.run(["openssl", *words], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
    except FileNotFoundError:
        raise ValueError("openssl is not installed") from None
    if done.returncode:
        raise ValueError("openssl %s: %s" % (words[0], (done.stderr.strip().splitlines() or ["failed"])[-1]))
    return done.stdout


def alternative(host):
    if len(host) < 200 and HOST.fullmatch(host):
        return "DNS:" + host
    try:
        if "%" not in host and ipaddress.ip_address(host).is_loopback:
            return "IP:" + host
    except ValueError:
        pass
    raise ValueError("%r is not localhost, a name that ends in .localhost, .test or .internal, or a loopback address" % host[:60])


def stem(host):
    return host.replace("*", "any").replace(":", "_")


server = Server("localhost-certs", version="0.3.1", instructions="Keys and certificates lie in certs below the working folder. Keys are readable by their owner alone, and certs/.gitignore keeps them out of git.")
HOST_NAMES = {"type": "array", "items": STRING, "minItems": 1, "maxItems": 20, "examples": [["app.localhost", "127.0.0.1"]]}


@server.tool("make_certificate", "Makes a key and a self-signed certificate for local host names with openssl, as certs/HOST-key.pem and certs/HOST.pem in the working folder. Files of the same name are replaced.",
             {"hosts": HOST_NAMES}, {"days": {"type": "integer", "minimum": 1, "maximum": 397}}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def make_certificate(hosts, days=90):
    if not hosts or len(hosts) > 20 or not all(isinstance(h, str) for h in hosts):
        raise ValueError("one to twenty host names are needed")
    hosts = [h.strip().lower() for h in hosts]
    names = ",".join(dict.fromkeys(alternative(h) for h in hosts))
    FOLDER.mkdir(exist_ok=True)
    key, certificate = FOLDER / (stem(hosts[0]) + "-key.pem"), FOLDER / (stem(hosts[0]) + ".pem")
    ignore = FOLDER / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*-key.pem\n")
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".new-") as fresh:
        pathlib.Path(fresh, "config").write_text(CONFIG % names)
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-sha256", "-days", str(max(1, min(397, days))),
                "-config", fresh + "/config", "-keyout", fresh + "/key", "-out", fresh + "/certificate")  # the folder is readable by its owner alone
        os.chmod(fresh + "/key", 0o600)
        os.chmod(fresh + "/certificate", 0o644)
        os.replace(fresh + "/key", key)
        os.replace(fresh + "/certificate", certificate)
    return "Made %s and %s for %s. The key is readable by you alone, and ignored by git." % (certificate, key, names)


@server.tool("list_certificates", "Lists the certificates in certs with their host names and when they end.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_certificates():
    lines = []
    for file in sorted(FOLDER.glob("*.pem")):
        if not file.name.endswith("-key.pem"):
            shown = openssl("x509", "-in", str(file), "-noout", "-enddate", "-ext", "subjectAltName")
            names = re.findall(r"(?:DNS|IP Address):\S+?(?=,|\s|$)", shown)
            lines.append("%s  until %s  %s" % (file.name, shown.partition("notAfter=")[2].partition("\n")[0], " ".join(names)))
    return "\n".join(lines) or "There are no certificates in %s." % FOLDER.resolve()


@server.tool("remove_certificate", "Deletes the certificate of a host and its key from certs.", {"host": STRING}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def remove_certificate(host):
    alternative(host.strip().lower())
    gone = []
    for file in (FOLDER / (stem(host.strip().lower()) + end) for end in (".pem", "-key.pem")):
        if file.is_file():
            file.unlink()
            gone.append(file.name)
    return "Removed %s." % " and ".join(gone) if gone else "There is no certificate of this name."


server.run()
