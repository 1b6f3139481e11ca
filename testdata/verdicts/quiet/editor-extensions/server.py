#!/usr/bin/env python3
"""editor-extensions [PROJECT]: the extensions of VS Code and VSCodium, and what a project recommends in .vscode/extensions.json."""
import json
import os
import re
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from mcp import Server

PROJECT = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
FILE = PROJECT / ".vscode" / "extensions.json"
EDITORS = {"VS Code": ".vscode/extensions", "VSCodium": ".vscode-oss/extensions", "VS Code Server": ".vscode-server/extensions"}
IDENT = re.compile(r"[a-z0-9][a-z0-9-]{0,60}\.[a-z0-9][a-z0-9._-]{0,80}", re.I)

server = Server("editor-extensions", version="0.5.1",
                instructions="Reads the extensions that are installed below %s, and the recommendations in %s. Installs nothing." % (", ".join("~/" + e for e in EDITORS.values()), FILE))


def installed():
    found = {}
    for editor, folder in EDITORS.items():
        for manifest in sorted((Path.home() / folder).glob("*/package.json"))[:500]:
            try:
                data = json.loads(manifest.read_text(encoding="utf-8"))
                found["%s.%s" % (data["publisher"], data["name"])] = (str(data.get("version", "?")), editor, str(data.get("description") or ""))
            except (OSError, ValueError, KeyError, TypeError):
                continue  # half removed, or not an extension
    return found


def recommended():
    """The recommendations and what else the file has. Comments are allowed there, and get lost by a change."""
    if not FILE.is_file():
        return {}
    text = FILE.read_text(encoding="utf-8")
    bare = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda m: m[1] or "", text, flags=re.S)
    bare = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', lambda m: m[1] or "", bare)
    try:
        data = json.loads(bare)
    except ValueError as error:
        raise ValueError("%s is no JSON: %s" % (FILE, error)) from None
    if not isinstance(data, dict) or not all(isinstance(e, str) for e in data.get("recommendations", [])):
        raise ValueError("%s has no list of recommendations" % FILE)
    return data


def identifier(value):
    if not IDENT.fullmatch(value) or ".." in value:
        raise ValueError("an extension is called PUBLISHER.NAME, such as golang.go")
    return value


EXTENSION = {"type": "string", "description": "PUBLISHER.NAME", "examples": ["golang.go"]}
READ = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("list_installed", "Lists the extensions that VS Code, VSCodium and VS Code Server have installed in the home folder.", annotations=READ)
def list_installed():
    return "\n".join("%s %s (%s): %s" % (n, v, e, d[:120]) for n, (v, e, d) in sorted(installed().items(), key=lambda x: x[0].lower())) or "No extensions are installed."


@server.tool("missing_recommendations", "Lists the extensions that the project's .vscode/extensions.json recommends and that are not installed.", annotations=READ)
def missing_recommendations():
    here = {n.lower() for n in installed()}
    return "\n".join(n for n in recommended().get("recommendations", []) if n.lower() not in here) or "Everything that is recommended is installed."


@server.tool("recommend", "Adds an extension to the recommendations in the project's .vscode/extensions.json, or removes it. Comments in that file get lost.",
             required={"extension": EXTENSION}, optional={"remove": {"type": "boolean", "default": False}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def recommend(extension, remove=False):
    identifier(extension)
    data = recommended()
    others = [n for n in data.get("recommendations", []) if n.lower() != extension.lower()]
    data["recommendations"] = others if remove else sorted([*others, extension], key=str.lower)
    FILE.parent.mkdir(exist_ok=True)
    if not FILE.parent.resolve().is_relative_to(PROJECT):
        raise ValueError("%s leads out of the project" % FILE.parent)
    with tempfile.NamedTemporaryFile("w", dir=FILE.parent, prefix=".extensions-", suffix=".json", delete=False, encoding="utf-8") as part:
        part.write(json.dumps(data, indent="\t", ensure_ascii=False) + "\n")
    os.chmod(part.name, 0o644)
    os.replace(part.name, FILE)
    return "%d recommendations in %s." % (len(data["recommendations"]), FILE)


@server.tool("look_up", "Looks an extension up at open-vsx.org: newest version, licence, downloads and description.", required={"extension": EXTENSION}, annotations={"readOnlyHint": True, "openWorldHint": True})
def look_up(extension):
    publisher, _, name = identifier(extension).partition(".")
    request = urllib.request.Request("https://open-vsx.org/api/%s/%s" % (publisher, name), headers={"User-Agent": "editor-extensions/0.5"})
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            data = json.loads(answer.read(2_000_000))
    except urllib.error.HTTPError as error:
        raise RuntimeError("Open VSX knows no %s" % extension if error.code == 404 else "Open VSX answered %d" % error.code) from None
    except (OSError, ValueError) as error:
        raise RuntimeError("open-vsx.org gives no answer: %s" % error) from None
    if not isinstance(data, dict):
        raise RuntimeError("Open VSX's answer is of no use")
    return "%s %s, %s, %s downloads\n%s" % (extension, data.get("version", "?"), data.get("license") or "no licence named", data.get("downloadCount", "?"), data.get("description") or "")


server.run()
