#!/usr/bin/env python3
import csv
import io
import json
import statistics
import sys

HELPERS = {"number": lambda text: float(text or 0), "lower": str.lower, "upper": str.upper, "length": len}


def rows_of(args):
    reader = csv.DictReader(io.StringIO(args["table"]))
    if not reader.fieldnames:
        raise ValueError("the table has no header")
    return reader.fieldnames, list(reader)


def condition(where, columns):
    """Compiles a condition and tries it on an empty row, so that mistakes show at once."""
    code = compile(where.strip(), "<where>", "eval")
    try:
        eval(code, dict(HELPERS), dict.fromkeys(columns, ""))
    except NameError as error:
        raise ValueError("%s; columns are %s" % (error, ", ".join(columns))) from None
    return lambda row: eval(code, dict(HELPERS), row)


def render(columns, rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def select_rows(args):
    columns, rows = rows_of(args)
    accept = condition(args["where"], columns)
    kept = [row for row in rows if accept(row)]
    return render(args.get("columns") or columns, kept[:int(args.get("limit", 100))])


def summarise(args):
    columns, rows = rows_of(args)
    lines = []
    for column in columns:
        values = [row[column] for row in rows if row[column]]
        try:
            numbers = [float(value) for value in values]
            lines.append("%s: %d numbers, mean %.2f, from %g to %g" % (column, len(numbers), statistics.fmean(numbers), min(numbers), max(numbers)))
        except (ValueError, statistics.StatisticsError):
            lines.append("%s: %d texts, %d different" % (column, len(values), len(set(values))))
    return "\n".join(lines)


TABLE = {"type": "string", "description": "a table in CSV with a header"}
TOOLS = {
    "select_rows": (select_rows, {
        "description": "Selects the rows of a table that meet a condition, such as: number(price) > 10 and lower(city) == 'bern'. "
                       "Conditions compare columns; they can do nothing else.",
        "inputSchema": {"type": "object", "required": ["table", "where"], "properties": {
            "table": TABLE, "where": {"type": "string", "description": "the condition"},
            "columns": {"type": "array", "items": {"type": "string"}}, "limit": {"type": "integer", "minimum": 1, "maximum": 1000}}},
        "annotations": {"readOnlyHint": True, "openWorldHint": False}}),
    "summarise_table": (summarise, {
        "description": "Summarises the columns of a table: numbers by mean and range, texts by count.",
        "inputSchema": {"type": "object", "required": ["table"], "properties": {"table": TABLE}},
        "annotations": {"readOnlyHint": True, "openWorldHint": False}}),
}


def dispatch(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}},
                "serverInfo": {"name": "table-query", "version": "0.8.3"}}
    if method == "tools/list":
        return {"tools": [{"name": name, **declaration} for name, (_, declaration) in TOOLS.items()]}
    if method == "tools/call":
        try:
            text, failed = TOOLS[params["name"]][0](params.get("arguments") or {}), False
        except Exception as error:
            text, failed = "%s: %s" % (type(error).__name__, error), True
        return {"content": [{"type": "text", "text": text}], "isError": failed}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": dispatch(message.get("method"), message.get("params") or {})}
        print(json.dumps(reply), flush=True)
