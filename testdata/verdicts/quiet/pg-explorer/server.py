#!/usr/bin/env python3
"""pg-explorer: look into a PostgreSQL database with the psql that is installed.

The database is DATABASE_URL, or what PGHOST, PGDATABASE, ... and ~/.pgpass say, as with psql itself.
Queries go through query_to_xml(), which executes them as reading only and takes no second statement that writes;
the transaction is read-only besides and rolled back at its end, so that functions cannot write either."""
import csv
import io
import json
import os
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree as ET

TIMEOUT = int(os.environ.get("PG_EXPLORER_SECONDS", "10"))

TABLES = """SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'partitioned' WHEN 'v' THEN 'view' ELSE 'materialized view' END AS kind,
 c.reltuples::bigint AS rows, pg_size_pretty(pg_total_relation_size(c.oid)) AS size
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind IN ('r', 'p', 'v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%' ORDER BY 1, 2 LIMIT 500"""
COLUMNS = """SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns
 WHERE table_schema = :'schema' AND table_name = :'name' ORDER BY ordinal_position"""
INDEXES = "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = :'schema' AND tablename = :'name' ORDER BY 1"
QUERY = "SELECT query_to_xml(:'query', true, false, '')"


class DatabaseError(Exception):
    pass


def connection():
    """DATABASE_URL as the variables of libpq, so that a password is not on the command line of psql."""
    url = urllib.parse.urlsplit(os.environ.get("DATABASE_URL", ""))
    parts = {"PGHOST": url.hostname, "PGPORT": url.port, "PGUSER": url.username, "PGPASSWORD": url.password, "PGDATABASE": url.path.lstrip("/")}
    parts["PGSSLMODE"] = urllib.parse.parse_qs(url.query).get("sslmode", [None])[0]
    return {name: urllib.parse.unquote(str(value)) for name, value in parts.items() if value}


def psql(script, *options, **variables):
    command = ["psql", "--no-psqlrc", "--no-password", "--quiet", "--set=ON_ERROR_STOP=1", *options]
    command += [part for name, value in variables.items() for part in ("-v", "%s=%s" % (name, value))]
    env = {**os.environ, **connection(), "PGCONNECT_TIMEOUT": "5", "PGAPPNAME": "pg-explorer", "PGOPTIONS": "-c default_transaction_read_only=on -c statement_timeout=%ds" % TIMEOUT}
    try:
        done = subprocess.run(command, input="BEGIN READ ONLY;\n%s;\nROLLBACK;\n" % script, env=env, capture_output=True, text=True, timeout=TIMEOUT + 8)
    except FileNotFoundError:
        raise DatabaseError("psql is not installed")
    except subprocess.TimeoutExpired:
        raise DatabaseError("the database took too long")
    if done.returncode:
        raise DatabaseError(done.stderr.strip()[:2000] or "psql ended with %d" % done.returncode)
    return done.stdout


def tables(_):
    return psql(TABLES, "--csv")


def describe(args):
    schema, _, name = args["table"].rpartition(".")
    where = {"schema": schema or "public", "name": name}
    columns = psql(COLUMNS, "--csv", **where)
    if columns.count("\n") < 2:
        raise DatabaseError("there is no table %s.%s" % (where["schema"], name))
    return columns + "\n" + psql(INDEXES, "--csv", **where)


def query(args):
    xml = psql(QUERY, "--tuples-only", "--no-align", query=args["sql"].rstrip().rstrip(";")).strip()
    rows = ET.fromstring(xml).findall("row") if xml else []
    if not rows:
        return "No rows."
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([cell.tag for cell in rows[0]])
    for row in rows[:1000]:
        writer.writerow(["".join(cell.itertext()) for cell in row])
    return out.getvalue() + ("… %d rows more" % (len(rows) - 1000) if len(rows) > 1000 else "")


SQL = {"sql": {"type": "string", "examples": ["SELECT count(*) FROM orders"]}}
TOOLS = [
    ("list_tables", tables, "Lists tables and views with estimated rows and sizes, as CSV.", {}),
    ("describe_table", describe, "Shows columns and indexes of a table.", {"table": {"type": "string", "description": "name or schema.name"}}),
    ("query", query, "Runs one SELECT in a read-only transaction, by the psql program, and returns at most 1000 rows as CSV. The database refuses whatever would write, and the transaction is rolled back.", SQL),
]
FUNCTIONS = {name: (function, properties) for name, function, _, properties in TOOLS}


def call(name, args):
    function, properties = FUNCTIONS[name]
    wrong = [p for p in properties if not isinstance(args.get(p), str) or not args[p].strip() or "\0" in args[p]]
    if wrong:
        return "%s has to be a text" % ", ".join(wrong), True
    try:
        return function(args), False
    except (DatabaseError, OSError, ValueError, ET.ParseError) as e:
        return str(e), True


def respond(number, **answer):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, **answer}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    try:
        m = json.loads(line)
        number, method, params = m["id"], m["method"], dict(m.get("params") or {})
    except (ValueError, KeyError, TypeError):
        continue
    if method == "initialize":
        respond(number, result={"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "pg-explorer", "version": "0.7.0"},
                                "instructions": "Starts psql for each call, against the database of DATABASE_URL or the PG* variables; psql may take the password from ~/.pgpass."})
    elif method == "ping":
        respond(number, result={})
    elif method == "tools/list":
        respond(number, result={"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": list(p)}, "annotations": {"readOnlyHint": True, "openWorldHint": True}} for n, _, d, p in TOOLS]})
    elif method == "tools/call" and params.get("name") in FUNCTIONS:
        args = params.get("arguments")
        text, failed = call(params["name"], args if isinstance(args, dict) else {})
        respond(number, result={"content": [{"type": "text", "text": text}], "isError": failed})
    else:
        respond(number, error={"code": -32601, "message": "no such method or tool"})
