#!/usr/bin/env python3
"""mysql-slow-log FILE: which queries cost most, from MySQL's or MariaDB's slow query log.

Values are replaced by ? before anything is answered, so that no customer's data leaves the log. The parsed log is kept in memory
until the file changes."""
import json
import os
import re
import sys

LOG = sys.argv[1] if len(sys.argv) > 1 else os.environ.get("MYSQL_SLOW_LOG", "/var/log/mysql/mysql-slow.log")
LIMIT = 64 * 1024 * 1024
ORDERS = {"total_time": "time", "count": "count", "rows_examined": "examined", "longest": "longest"}
STATS = re.compile(r"^# Query_time: ([\d.]+)\s+Lock_time: [\d.]+\s+Rows_sent: (\d+)\s+Rows_examined: (\d+)")
NOISE = re.compile(r"^(# |SET timestamp=|use [`\w]+;|.*, Version: .* started with:|Tcp port:|Time\s+Id\s+Command)", re.I)
CACHE = {"key": None, "shapes": {}}


def shape(sql):
    sql = re.sub(r"/\*.*?\*/", " ", sql, flags=re.S)
    sql = re.sub(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.|\"\")*\"", "?", sql, flags=re.S)
    sql = re.sub(r"\b0x[0-9a-f]+\b|(?<![\w`])-?\d+(?:\.\d+)?\b", "?", sql, flags=re.I)
    sql = re.sub(r"\(\s*\?(?:\s*,\s*\?)+\s*\)", "(?…)", sql)
    sql = re.sub(r"(\(\?…\)|\(\?\))(?:\s*,\s*(?:\(\?…\)|\(\?\)))+", r"\1, …", sql)
    return re.sub(r"\s+", " ", sql).strip().rstrip(";")[:1000]


def entries(lines):
    stats, sql = None, []
    for line in lines:
        found = STATS.match(line)
        if found:
            if stats and sql:
                yield stats, "".join(sql)
            stats, sql = (float(found[1]), int(found[2]), int(found[3])), []
        elif stats and not NOISE.match(line):
            sql.append(line)
    if stats and sql:
        yield stats, "".join(sql)


def shapes():
    state = os.stat(LOG)
    key = (state.st_ino, state.st_size, state.st_mtime_ns)
    if CACHE["key"] != key:
        groups = {}
        with open(LOG, encoding="utf-8", errors="replace") as file:
            if state.st_size > LIMIT:  # only the newest part of a very long log
                file.seek(state.st_size - LIMIT)
                file.readline()
            for (seconds, sent, examined), sql in entries(file):
                g = groups.setdefault(shape(sql), {"count": 0, "time": 0.0, "sent": 0, "examined": 0, "longest": 0.0})
                for field, value in (("count", 1), ("time", seconds), ("sent", sent), ("examined", examined)):
                    g[field] += value
                g["longest"] = max(g["longest"], seconds)
        CACHE.update(key=key, shapes=groups)
    return CACHE["shapes"]


def integer(args, name, default, low, high):
    value = args.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError("%s is a whole number from %d to %d" % (name, low, high))
    return value


def worst_queries(args):
    order = args.get("order", "total_time")
    if not isinstance(order, str) or order not in ORDERS:
        raise ValueError("order is one of " + ", ".join(ORDERS))
    count = integer(args, "count", 10, 1, 100)
    ranked = sorted(shapes().items(), key=lambda item: -item[1][ORDERS[order]])[:count]
    return "\n".join("%8.2fs in all, %d times, longest %.2fs, %d rows examined, %d sent\n         %s" % (g["time"], g["count"], g["longest"], g["examined"], g["sent"], s) for s, g in ranked) or "The log has no slow queries."


def wasteful_queries(args):
    ratio = integer(args, "ratio", 1000, 2, 10**9)
    found = [(g["examined"] / max(g["sent"], 1), s) for s, g in shapes().items()]
    return "\n".join("%9d rows examined for each row sent: %s" % f for f in sorted(found, reverse=True)[:50] if f[0] >= ratio) or "No query examines that many rows for a row that it sends."


READ = {"readOnlyHint": True, "openWorldHint": False}
TOOLS = {
    "worst_queries": (worst_queries, "Ranks the queries of the slow query log %s by what they cost. Queries that differ only in their values count as one; values are shown as ?." % LOG,
                      {"order": {"type": "string", "enum": list(ORDERS)}, "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}}),
    "wasteful_queries": (wasteful_queries, "Finds queries of the slow query log %s that examine many rows for each row that they send, which often lack an index." % LOG,
                         {"ratio": {"type": "integer", "minimum": 2, "default": 1000, "description": "rows examined for each row sent"}}),
}


def handle(method, params):
    if method == "initialize":
        return {"protocolVersion": params.get("protocolVersion", "2025-06-18"), "capabilities": {"tools": {}}, "serverInfo": {"name": "mysql-slow-log", "version": "2.1.0"}}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "additionalProperties": False}, "annotations": READ} for n, (_, d, p) in TOOLS.items()]}
    if method == "tools/call":
        name, args = params.get("name"), params.get("arguments") or {}
        try:
            if not isinstance(name, str) or name not in TOOLS or not isinstance(args, dict):
                raise ValueError("there is no such tool, or the arguments are no object")
            unknown = set(args) - set(TOOLS[name][2])
            if unknown:
                raise ValueError("unknown arguments: %r" % sorted(unknown))
            return {"content": [{"type": "text", "text": TOOLS[name][0](args)}]}
        except FileNotFoundError:
            return {"isError": True, "content": [{"type": "text", "text": "There is no slow query log at %s. Is slow_query_log on?" % LOG}]}
        except (OSError, ValueError) as error:
            return {"isError": True, "content": [{"type": "text", "text": str(error)}]}
    return None


for request in sys.stdin:
    try:
        request = json.loads(request)
    except ValueError:
        continue
    if isinstance(request, dict) and "id" in request:
        params = request.get("params")
        result = handle(request.get("method"), params if isinstance(params, dict) else {})
        reply = {"result": result} if result is not None else {"error": {"code": -32601, "message": "method not found"}}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}), flush=True)
