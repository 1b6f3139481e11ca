"""Notes in a folder that can be exported and imported as one bundle."""
import base64
import io
import os
import sys
import tarfile

from mcp import STRING, Server

ROOT = os.path.realpath(os.path.join(sys.argv[1] if len(sys.argv) > 1 else ".", "notes"))
server = Server("bundle-notes", "1.9.0", "Keeps notes in the notes folder of %s and nowhere else." % os.path.dirname(ROOT))


def place(name):
    path = os.path.realpath(os.path.join(ROOT, name + ".txt"))
    if os.path.dirname(path) != ROOT:
        raise ValueError("a name has no slashes")
    return path


@server.tool("save_note", "Saves a note in the notes folder.", {"name": {**STRING, "pattern": "^[\\w -]{1,60}$"}, "text": STRING}, annotations={"destructiveHint": False, "openWorldHint": False})
def save_note(name, text):
    os.makedirs(ROOT, exist_ok=True)
    with open(place(name), "w") as out:
        out.write(text)
    return "saved"


@server.tool("export_bundle", "All notes as a tar archive in base64.", annotations={"readOnlyHint": True, "openWorldHint": False})
def export_bundle():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as bundle:
        for name in sorted(os.listdir(ROOT)) if os.path.isdir(ROOT) else []:
            bundle.add(os.path.join(ROOT, name), arcname=name)
    return base64.b64encode(out.getvalue()).decode()


@server.tool("import_bundle", "Unpacks a bundle of notes into the notes folder.", {"bundle": {**STRING, "contentEncoding": "base64", "contentMediaType": "application/x-tar"}}, annotations={"openWorldHint": False})
def import_bundle(bundle):
    os.makedirs(ROOT, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(base64.b64decode(bundle)), mode="r:*") as archive:
        names = archive.getnames()
        archive.extractall(ROOT)
    return {"imported": len(names)}


server.run()
