#!/usr/bin/env python3
"""maven-outdated: which dependencies of a pom.xml have newer releases on Maven Central? Maven itself is not needed."""
import concurrent.futures
import json
import re
import sys
import urllib.error
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ET
from pathlib import Path

PROJECT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
CENTRAL = "https://repo1.maven.org/maven2/"
SEARCH = "https://search.maven.org/solrsearch/select?"
PART = re.compile(r"[A-Za-z0-9_.-]{1,120}")
UNSTABLE = re.compile(r"(alpha|beta|snapshot|preview|[.-](rc|cr|m|ea)[.-]?\d*$)", re.I)


def download(url):
    request = urllib.request.Request(url, headers={"User-Agent": "maven-outdated-mcp/1.5"})
    with urllib.request.urlopen(request, timeout=6) as answer:
        return answer.read(4 << 20)


def pom(module):
    path = (PROJECT / module / "pom.xml").resolve()
    if not path.is_relative_to(PROJECT):
        raise ValueError("%s is not in the project" % module)
    text = path.read_text(encoding="utf-8", errors="replace")
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise ValueError("a pom.xml with a DOCTYPE is not read")
    return ET.fromstring(re.sub(r'\sxmlns="[^"]*"', "", text, count=1))


def dependencies(module):
    root = pom(module)
    properties = {p.tag: (p.text or "").strip() for p in root.findall("./properties/*")}
    properties["project.version"] = root.findtext("version") or root.findtext("./parent/version") or ""
    fill = lambda s: re.sub(r"\$\{([^}]+)\}", lambda m: properties.get(m[1], m[0]), (s or "").strip())
    found = []
    for where, kind in ((".//dependency", "dependency"), (".//plugin", "plugin"), ("./parent", "parent")):
        for node in root.findall(where):
            group = fill(node.findtext("groupId")) or ("org.apache.maven.plugins" if kind == "plugin" else "")
            entry = (kind, group, fill(node.findtext("artifactId")), fill(node.findtext("version")))
            if entry not in found:
                found.append(entry)
    return found


def order(version):
    return [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in re.split(r"[.\-+]", version)]


def newest(group, artifact, unstable):
    if not PART.fullmatch(group) or not PART.fullmatch(artifact):
        return None
    url = CENTRAL + group.replace(".", "/") + "/" + artifact + "/maven-metadata.xml"
    metadata = download(url)
    if b"<!DOCTYPE" in metadata or b"<!ENTITY" in metadata:
        raise ValueError("unexpected metadata")
    versions = [v.text.strip() for v in ET.fromstring(metadata).findall("./versioning/versions/version") if v.text]
    versions = sorted((v for v in versions if unstable or not UNSTABLE.search(v)), key=order)
    return versions[-1] if versions else None


def list_dependencies(args):
    found = dependencies(args.get("module", "."))
    return "\n".join("%-10s %s:%s:%s" % (k, g, a, v or "(managed)") for k, g, a, v in found) or "None."


def check_outdated(args):
    pinned = [d for d in dependencies(args.get("module", ".")) if d[3] and "$" not in d[3]][:150]

    def line(entry):
        kind, group, artifact, version = entry
        try:
            last = newest(group, artifact, args.get("unstable", False))
        except urllib.error.HTTPError as e:
            return "%s:%s is not on Maven Central (%d)" % (group, artifact, e.code)
        except (OSError, ValueError, ET.ParseError) as e:
            return "%s:%s could not be asked for: %s" % (group, artifact, e)
        return "%s:%s  %s -> %s" % (group, artifact, version, last) if last and order(last) > order(version) else None
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return "\n".join(filter(None, pool.map(line, pinned))) or "All %d versions are the newest." % len(pinned)


def search_artifacts(args):
    query = urllib.parse.urlencode({"q": args["words"][:200], "rows": 15, "wt": "json"}, errors="replace")
    docs = json.loads(download(SEARCH + query))["response"]["docs"]
    return "\n".join("%s  %s" % (d.get("id"), d.get("latestVersion")) for d in docs) or "Nothing found."


MODULE = {"type": "string", "default": ".", "description": "folder of the pom.xml below the project"}
TOOLS = {
    "list_dependencies": (list_dependencies, "Lists parent, dependencies and plugins in a pom.xml of the project, with properties filled in. Reads the file only.", {"module": MODULE}, [], False),
    "check_outdated": (check_outdated, "Asks Maven Central (repo1.maven.org) for the versions of everything in a pom.xml and lists what is outdated. Changes nothing.",
                       {"module": MODULE, "unstable": {"type": "boolean", "default": False, "description": "count milestones and release candidates too"}}, [], True),
    "search_artifacts": (search_artifacts, "Searches Maven Central for artifacts.", {"words": {"type": "string", "minLength": 1}}, ["words"], True),
}
KINDS = {"string": str, "boolean": bool}


def call(params):
    function, _, properties, required, _ = TOOLS[params["name"]]
    args = params.get("arguments") if isinstance(params.get("arguments"), dict) else {}
    bad = [n for n in required if n not in args] + [n for n, v in args.items() if n in properties and not isinstance(v, KINDS[properties[n]["type"]])]
    if bad:
        return {"isError": True, "content": [{"type": "text", "text": "missing or wrong: " + ", ".join(bad)}]}
    try:
        return {"content": [{"type": "text", "text": function(args)}]}
    except (OSError, ValueError, KeyError, TypeError, ET.ParseError) as e:
        return {"isError": True, "content": [{"type": "text", "text": "%s: %s" % (type(e).__name__, e)}]}


def result(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "maven-outdated", "version": "1.5.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {"readOnlyHint": True, "openWorldHint": w}} for n, (_, d, p, r, w) in TOOLS.items()]}
    if method == "tools/call" and params.get("name") in TOOLS:
        return call(params)
    return None


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict) and message.get("id") is not None and isinstance(message.get("params", {}), dict):
        outcome = result(message.get("method"), message.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **({"error": {"code": -32601, "message": "not found"}} if outcome is None else {"result": outcome})}), flush=True)
