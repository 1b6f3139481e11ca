"""Finds mistakes in a kubeconfig: contexts without cluster or user, doubled names, certificates that ran out."""
import base64
import os
import re
import subprocess

from mcp import Server

server = Server("kubeconfig-lint", "1.0.3", instructions="Reads the kubeconfig (the first file of KUBECONFIG, else ~/.kube/config) and reports mistakes in it. Tokens and keys are never part of an answer.")
READ = {"readOnlyHint": True, "openWorldHint": False}


def load():
    path = os.environ.get("KUBECONFIG", "").split(":")[0] or os.path.expanduser("~/.kube/config")
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError):
        return ""


def names(text, part):
    """The names in one of the lists of the file, which kubectl writes with two blanks or none."""
    found = re.search(r"^%s:\s*\n((?:[ -].*\n?)*)" % part, text, re.M)
    return re.findall(r"^(?:- |  )name: *\"?([^\s\"]+)", found.group(1), re.M) if found else []


def members(text, word):
    return re.findall(r"^    %s: *\"?([^\s\"]+)" % word, text, re.M)


@server.tool("lint_kubeconfig", "Reports mistakes in your kubeconfig: contexts whose cluster or user does not exist, names that stand twice, a current context that is missing.", annotations=READ)
def lint_kubeconfig():
    text = load()
    if not text:
        return "There is no kubeconfig."
    said = []
    for part, word in (("clusters", "cluster"), ("users", "user")):
        known = names(text, part)
        said += ["%s %s stands twice" % (word, n) for n in sorted({n for n in known if known.count(n) > 1})]
        said += ["a context names the %s %s, which does not exist" % (word, n) for n in sorted(set(members(text, word)) - set(known))]
    current = re.search(r"^current-context: *\"?([^\s\"]*)", text, re.M)
    if not current or current.group(1) not in names(text, "contexts"):
        said.append("the current context does not exist")
    return "\n".join(said) or "No mistakes: %d contexts, %d clusters, %d users." % tuple(len(names(text, p)) for p in ("contexts", "clusters", "users"))


@server.tool("certificate_dates", "Says until when the certificates in your kubeconfig are valid, by openssl.", annotations=READ)
def certificate_dates():
    rows = []
    for kind, data in re.findall(r"(certificate-authority|client-certificate)-data: *([A-Za-z0-9+/=]+)", load()):
        try:
            done = subprocess.run(["openssl", "x509", "-noout", "-enddate"], input=base64.b64decode(data), capture_output=True, timeout=5)
            rows.append("%s: %s" % (kind, done.stdout.decode().strip().replace("notAfter=", "until ") or "is no certificate"))
        except (ValueError, OSError, subprocess.TimeoutExpired):
            rows.append("%s: could not be read" % kind)
    return "\n".join(rows) or "There are no certificates in it."


server.run()
