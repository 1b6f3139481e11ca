#!/usr/bin/env python3
"""xlsx-sheets: look into .xlsx workbooks and export sheets as CSV, with the standard library only."""
import csv
import datetime
import io
import os
import posixpath
import re
import sys
import tempfile
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

from mcp import STRING, Server

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
DATE_FORMATS = set(range(14, 23)) | {45, 46, 47}
FILE = {"type": "string", "description": "a workbook below the folder", "examples": ["budget.xlsx"]}
READS = {"readOnlyHint": True, "openWorldHint": False}
server = Server("xlsx-sheets", "0.4.2", "Workbooks below %s. A workbook is never changed; formulas show the value that was saved with them." % FOLDER)


class Workbook:
    def __init__(self, name):
        self.path = (FOLDER / name).resolve()
        if not self.path.is_relative_to(FOLDER) or self.path.suffix.lower() not in (".xlsx", ".xlsm"):
            raise ValueError("%s is no workbook below %s" % (name, FOLDER))
        self.zip = zipfile.ZipFile(self.path)
        targets = {r.get("Id"): r.get("Target", "") for r in self.xml("xl/_rels/workbook.xml.rels")}
        book = self.xml("xl/workbook.xml")
        self.sheets = {s.get("name"): posixpath.normpath(posixpath.join("/xl", targets.get(s.get(REL), "")))[1:] for s in book.iter(MAIN + "sheet")}
        properties = book.find(MAIN + "workbookPr")
        self.epoch = datetime.datetime(1904, 1, 1) if properties is not None and properties.get("date1904") in ("1", "true") else datetime.datetime(1899, 12, 30)
        members = set(self.zip.namelist())
        self.strings = ["".join(t.text or "" for t in s.iter(MAIN + "t")) for s in self.xml("xl/sharedStrings.xml")] if "xl/sharedStrings.xml" in members else []
        self.dates = self.date_styles() if "xl/styles.xml" in members else set()

    def xml(self, member):
        info = self.zip.getinfo(member)
        if info.file_size > 100 << 20:
            raise ValueError("%s is larger than 100 MB" % member)
        data = self.zip.read(info)
        if b"<!DOCTYPE" in data[:4096]:
            raise ValueError("%s has a DOCTYPE" % member)
        return ET.fromstring(data)

    def date_styles(self):
        styles = self.xml("xl/styles.xml")
        own = {int(f.get("numFmtId")) for f in styles.iter(MAIN + "numFmt") if re.search(r"[ymdhs]", re.sub(r'"[^"]*"|\[[^\]]*\]|\\.', "", f.get("formatCode", "")), re.I)}
        formats = styles.find(MAIN + "cellXfs")
        return {i for i, f in enumerate(formats if formats is not None else []) if int(f.get("numFmtId", 0)) in own | DATE_FORMATS}

    def value(self, cell):
        kind, v = cell.get("t", "n"), cell.findtext(MAIN + "v")
        if kind == "inlineStr":
            return "".join(t.text or "" for t in cell.iter(MAIN + "t"))
        if v is None:
            return ""
        if kind == "s":
            return self.strings[int(v)]
        if kind == "b":
            return "TRUE" if v == "1" else "FALSE"
        if kind == "n" and int(cell.get("s", 0)) in self.dates:
            when = self.epoch + datetime.timedelta(days=float(v))
            return when.date().isoformat() if when.time() == datetime.time() else when.isoformat(" ", "seconds")
        return v

    def rows(self, sheet):
        if sheet not in self.sheets:
            raise ValueError("sheets: " + ", ".join(self.sheets))
        for row in self.xml(self.sheets[sheet]).iter(MAIN + "row"):
            cells = []
            for cell in row.iter(MAIN + "c"):
                column = 0
                for letter in re.match(r"[A-Z]{0,3}", cell.get("r", ""))[0]:
                    column = column * 26 + ord(letter) - 64
                cells.extend([""] * (column - 1 - len(cells)))
                cells.append(self.value(cell))
            yield cells


def as_csv(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


@server.tool("list_workbooks", "Lists the Excel workbooks below the folder with their sheets.", annotations=READS)
def list_workbooks():
    lines = []
    for path in sorted(p for p in FOLDER.rglob("*.xls[xm]") if not p.name.startswith("~$"))[:100]:
        name = path.relative_to(FOLDER)
        try:
            lines.append("%s: %s" % (name, ", ".join(Workbook(name).sheets)))
        except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile, ET.ParseError) as e:
            lines.append("%s: cannot be read (%s)" % (name, e))
    return "\n".join(lines) or "No workbooks in %s." % FOLDER


@server.tool("read_sheet", "Returns rows of a sheet as CSV.", {"file": FILE, "sheet": STRING},
             {"first": {"type": "integer", "minimum": 1, "default": 1}, "count": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100}}, annotations=READS)
def read_sheet(file, sheet, first=1, count=100):
    start = max(first, 1) - 1
    rows = list(Workbook(file).rows(sheet))[start:start + max(1, min(count, 1000))]
    return as_csv(rows) or "No rows there."


@server.tool("export_csv", "Writes a sheet as WORKBOOK.SHEET.csv beside the workbook. A file of that name is replaced only with overwrite.", {"file": FILE, "sheet": STRING},
             {"overwrite": {"type": "boolean", "default": False}}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def export_csv(file, sheet, overwrite=False):
    book = Workbook(file)
    text = as_csv(book.rows(sheet))
    target = book.path.with_name("%s.%s.csv" % (book.path.stem, re.sub(r"[^\w-]+", "_", sheet)))
    if target.exists() and not overwrite:
        raise ValueError("%s is there already" % target)
    handle, temporary = tempfile.mkstemp(dir=target.parent, suffix=".csv.part")
    with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
        out.write(text)
    os.replace(temporary, target)
    return "%d lines in %s" % (text.count("\n"), target)


server.run()
