#!/usr/bin/env python3
"""Looks into ZIP, tar and gzip archives that are given in base64. Nothing is unpacked to disk; sizes are bounded."""
import base64
import gzip
import io
import json
import sys
import tarfile
import zipfile
import zlib

TOTAL, TEXT = 20 << 20, 64 << 10


class Archive:
    """Members by name, whatever the kind."""

    def __init__(self, data):
        self.kind, self.members = "unknown", {}
        if zipfile.is_zipfile(io.BytesIO(data)):
            self.kind, self.zip = "zip", zipfile.ZipFile(io.BytesIO(data))
            self.members = {i.filename: i.file_size for i in self.zip.infolist()[:1000]}
            return
        if data[:2] == b"\x1f\x8b":
            inflater = zlib.decompressobj(31)
            data, self.kind = inflater.decompress(data, TOTAL), "gzip"
            self.plain = data
            self.members = {"(content)": len(data)}
        try:
            self.tar = tarfile.open(fileobj=io.BytesIO(data), mode="r:")
            self.members = {m.name: m.size for m in self.tar.getmembers()[:1000] if m.isfile()}
            self.kind = "tar" if self.kind == "unknown" else "tar.gz"
        except tarfile.TarError:
            pass

    def read(self, name):
        if self.kind == "zip":
            with self.zip.open(name) as f:
                return f.read(TEXT)
        if self.kind == "gzip":
            return self.plain[:TEXT]
        return self.tar.extractfile(name).read(TEXT)


def decode(args):
    try:
        raw = base64.b64decode(str(args.get("data", "")), validate=True)
    except ValueError:
        return None
    return raw if len(raw) <= TOTAL else None


def list_archive(args):
    raw = decode(args)
    if raw is None:
        return "That is not base64 of an archive."
    archive = Archive(raw)
    warnings = [n for n in archive.members if n.startswith("/") or ".." in n.split("/")]
    lines = ["%s, %d members" % (archive.kind, len(archive.members))] + ["%9d  %s" % (size, name) for name, size in archive.members.items()]
    return "\n".join(lines + ["Careful, leads out of its folder: " + n for n in warnings])


def read_member(args):
    raw = decode(args)
    if raw is None:
        return "That is not base64 of an archive."
    archive, name = Archive(raw), str(args.get("member", ""))
    if name not in archive.members:
        return "There is no such member."
    return archive.read(name).decode("utf-8", "replace")


def make_zip(args):
    files, out = args.get("files"), io.BytesIO()
    if not isinstance(files, dict):
        return "Give files as names and texts."
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, text in list(files.items())[:100]:
            if name and not name.startswith("/") and ".." not in name.split("/"):
                z.writestr(zipfile.ZipInfo(name), str(text).encode("utf-8", "replace"))
    return base64.b64encode(out.getvalue()).decode()


def compress(args):
    text = str(args.get("text", "")).encode("utf-8", "replace")
    packed = gzip.compress(text, mtime=0)
    return "%d bytes -> %d bytes\n%s" % (len(text), len(packed), base64.b64encode(packed).decode())


SAMPLE = make_zip({"files": {"readme.txt": "hello", "src/main.py": "print(1)"}})
DATA = {"type": "string", "contentEncoding": "base64", "examples": [SAMPLE]}
TOOLS = {
    "list_archive": (list_archive, "Lists what is in a ZIP, tar or gzip archive given in base64.", {"data": DATA}, ["data"]),
    "read_member": (read_member, "Shows a text file in an archive given in base64.", {"data": DATA, "member": {"type": "string", "examples": ["readme.txt"]}}, ["data", "member"]),
    "make_zip": (make_zip, "Packs texts into a ZIP archive, returned in base64.", {"files": {"type": "object", "additionalProperties": {"type": "string"}, "examples": [{"a.txt": "one"}]}}, ["files"]),
    "compress_text": (compress, "Compresses a text with gzip, returned in base64.", {"text": {"type": "string"}}, ["text"]),
}


def main():
    for line in sys.stdin:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if not isinstance(request, dict) or "id" not in request:
            continue
        method, params = request.get("method"), request.get("params") or {}
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        if method == "initialize":
            reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "archive-peek", "version": "0.5.1"}}
        elif method == "ping":
            reply["result"] = {}
        elif method == "tools/list":
            reply["result"] = {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": {"readOnlyHint": True, "openWorldHint": False}}
                                         for n, (_, d, p, r) in TOOLS.items()]}
        elif method == "tools/call" and params.get("name") in TOOLS:
            try:
                text, failed = TOOLS[params["name"]][0](params.get("arguments") or {}), False
            except (OSError, EOFError, ValueError, RuntimeError, NotImplementedError, zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
                text, failed = "The archive is damaged or of a kind that is not known here (%s)." % error, True
            reply["result"] = {"content": [{"type": "text", "text": text}], "isError": failed}
        else:
            reply["error"] = {"code": -32601, "message": "Method not found"}
        print(json.dumps(reply), flush=True)


main()
