#!/usr/bin/env python3
"""odt-templates FOLDER: fills {{placeholders}} in OpenDocument texts (*.odt, *.ott) and writes the result to FOLDER/out."""
import os
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

from mcp import Server

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
OUT = FOLDER / "out"
NAME = re.compile(r"[\w][\w -]{0,79}")
HOLE = re.compile(r"\{\{\s*([A-Za-z_]\w{0,39})\s*\}\}")
PARTS = ("content.xml", "styles.xml")
MOST = 50_000_000
READ = {"readOnlyHint": True, "openWorldHint": False}

server = Server("odt-templates", version="0.7.0", instructions="Templates are the OpenDocument texts in %s; filled ones go to %s." % (FOLDER, OUT))


def templates():
    return sorted(f for f in FOLDER.glob("*.o[dt]t") if f.is_file() and not f.is_symlink()) if FOLDER.is_dir() else []


def template(name):
    for file in templates():
        if name in (file.name, file.stem):
            return file
    raise ValueError("there is no such template in %s; there are: %s" % (FOLDER, ", ".join(f.name for f in templates()) or "none"))


def read(archive, name):
    info = archive.getinfo(name)
    if info.file_size > MOST:
        raise ValueError("%s is too large" % name)
    return archive.read(info).decode("utf-8")


def holes(file):
    with zipfile.ZipFile(file) as archive:
        names = set(archive.namelist())
        return sorted({h for part in PARTS if part in names for h in HOLE.findall(read(archive, part))})


def xml(value):
    """The value as OpenDocument writes it: new lines and runs of blanks are elements."""
    value = "".join(c for c in str(value) if c in "\n\t" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff"))
    text = escape(value).replace("\n", "<text:line-break/>").replace("\t", "<text:tab/>")
    return re.sub(r" {2,}", lambda m: ' <text:s text:c="%d"/>' % (len(m[0]) - 1), text)


@server.tool("list_templates", "Lists the OpenDocument templates in %s with their placeholders." % FOLDER, annotations=READ)
def list_templates():
    lines = []
    for file in templates()[:200]:
        try:
            lines.append("%s: %s" % (file.name, ", ".join(holes(file)) or "no placeholders"))
        except (zipfile.BadZipFile, UnicodeDecodeError, ValueError, OSError) as error:
            lines.append("%s cannot be read: %s" % (file.name, error))
    return "\n".join(lines) or "There are no templates in %s." % FOLDER


@server.tool("fill_template", "Fills the placeholders of a template and writes the text as a new .odt file to %s." % OUT,
             required={"template": {"type": "string"}, "values": {"type": "object", "additionalProperties": {"type": ["string", "number"]}}, "name": {"type": "string", "description": "the new file's name, without ending"}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def fill_template(**args):
    source, values, name = template(args["template"]), args["values"], args["name"].strip().removesuffix(".odt")
    if not NAME.fullmatch(name):
        raise ValueError("name is letters, digits, blanks, _ and -, at most 80")
    if len(values) > 200 or any(isinstance(v, bool) or not isinstance(v, (str, int, float)) or len(str(v)) > 10000 for v in values.values()):
        raise ValueError("values are at most 200 texts or numbers of at most 10000 characters")
    missing = [h for h in holes(source) if h not in values]
    if missing:
        raise ValueError("no values for: " + ", ".join(missing))
    OUT.mkdir(exist_ok=True)
    target = OUT / (name + ".odt")
    with tempfile.NamedTemporaryFile(dir=OUT, prefix=".filling-", delete=False) as part:
        try:
            with zipfile.ZipFile(source) as old, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
                if sum(i.file_size for i in old.infolist()) > MOST:
                    raise ValueError("the template is too large")
                for info in old.infolist():  # in the old order, as mimetype comes first and is stored
                    data = old.read(info)
                    if info.filename in PARTS:
                        data = HOLE.sub(lambda m: xml(values[m[1]]), data.decode("utf-8")).encode("utf-8")
                    elif info.filename == "mimetype":
                        data = b"application/vnd.oasis.opendocument.text"
                    new.writestr(info, data, zipfile.ZIP_STORED if info.filename == "mimetype" else zipfile.ZIP_DEFLATED)
            part.flush()
            os.link(part.name, target)
        except FileExistsError:
            raise ValueError("there is a file %s already" % target) from None
        finally:
            os.unlink(part.name)
    return "Wrote %s." % target


server.run()
