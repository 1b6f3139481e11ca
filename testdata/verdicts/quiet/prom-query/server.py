#!/usr/bin/env python3
"""prom-query: values, courses and alerts of the Prometheus at PROMETHEUS_URL.

PROMETHEUS_USER and PROMETHEUS_PASSWORD are for a Prometheus behind a password. Queries have ten seconds."""
import base64
import json
import math
import os
import re
import time
import urllib.error
import urllib.parse
import urllib.request

from mcp import Server

BASE = os.environ.get("PROMETHEUS_URL", "http://127.0.0.1:9090").rstrip("/")
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
DURATION = re.compile(r"([1-9]\d{0,4})([smhdw])")
BARS = "▁▂▃▄▅▆▇█"
MOST_SERIES = 50

server = Server("prom-query", version="1.2.0", instructions="Asks the Prometheus at %s. Queries are PromQL." % BASE)


def prometheus(path, **fields):
    """POST, as PromQL may be longer than an address; Prometheus changes nothing by it."""
    request = urllib.request.Request(BASE + path, data=urllib.parse.urlencode(fields).encode() if fields else None)
    request.add_header("Accept", "application/json")
    user = os.environ.get("PROMETHEUS_USER")
    if user:
        both = "%s:%s" % (user, os.environ.get("PROMETHEUS_PASSWORD", ""))
        request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(both.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=12) as answer:
            raw = answer.read(8_000_000)
    except urllib.error.HTTPError as error:
        raw = error.read(100_000)
        if error.code not in (400, 422, 503):
            raise RuntimeError("%s answered %d" % (BASE, error.code)) from None
    except (urllib.error.URLError, TimeoutError) as error:
        raise RuntimeError("%s is not reachable: %s" % (BASE, getattr(error, "reason", error))) from None
    try:
        body = json.loads(raw)
    except ValueError:
        raise RuntimeError("%s gives no JSON; is it a Prometheus?" % BASE) from None
    if not isinstance(body, dict) or body.get("status") != "success" or not isinstance(body.get("data"), dict):
        raise RuntimeError("Prometheus says: %s" % (str(body.get("error"))[:500] if isinstance(body, dict) else "nothing useful"))
    return body["data"]


def promql(query):
    query = query.strip()
    if not query or len(query) > 4000:
        raise ValueError("a query has 1 to 4000 characters")
    query.encode("utf-8")
    return query


def seconds(text, name):
    found = DURATION.fullmatch(text)
    if not found:
        raise ValueError("%s is a number and s, m, h, d or w, such as 6h" % name)
    return int(found[1]) * UNITS[found[2]]


def label(metric):
    metric = dict(metric)
    name = metric.pop("__name__", "")
    return name + ("{%s}" % ", ".join('%s="%s"' % m for m in sorted(metric.items())) if metric or not name else "")


def spark(values):
    low, high = min(values), max(values)
    return "".join(BARS[int((v - low) / ((high - low) or 1) * 7)] for v in values)


QUERY = {"type": "string", "description": "PromQL", "examples": ["sum by (job) (up)"]}
READ = {"readOnlyHint": True, "openWorldHint": True}


@server.tool("query", "Evaluates a PromQL query at the Prometheus server now.", required={"query": QUERY}, annotations=READ)
def query(**args):
    data = prometheus("/api/v1/query", query=promql(args["query"]), timeout="10s")
    result = data.get("result") or []
    if data.get("resultType") in ("scalar", "string"):
        return str(result[1])
    lines = ["%s  %s" % (s["value"][1] if "value" in s else s["values"][-1][1], label(s.get("metric", {}))) for s in result[:MOST_SERIES]]
    return "\n".join(lines + (["and %d more" % (len(result) - MOST_SERIES)] if len(result) > MOST_SERIES else [])) or "No series."


@server.tool("course", "Evaluates a PromQL query over the last minutes, hours or days, and draws each series as small bars with its least, mean and greatest value.",
             required={"query": QUERY}, optional={"last": {"type": "string", "pattern": DURATION.pattern, "default": "6h", "examples": ["6h"]}}, annotations=READ)
def course(last="6h", **args):
    span = seconds(last, "last")
    if span > 366 * 86400:
        raise ValueError("last is at most a year")
    now = time.time()
    data = prometheus("/api/v1/query_range", query=promql(args["query"]), start="%.0f" % (now - span), end="%.0f" % now, step=str(max(1, span // 60)), timeout="10s")
    lines = []
    for series in (data.get("result") or [])[:MOST_SERIES]:
        values = [v for v in (float(v) for _, v in series["values"]) if math.isfinite(v)]
        if values:
            lines.append("%s\n  %s  least %.6g, mean %.6g, greatest %.6g" % (label(series.get("metric", {})), spark(values), min(values), sum(values) / len(values), max(values)))
    return "\n".join(lines) or "No series."


@server.tool("firing_alerts", "Lists the alerts of the Prometheus server that are firing or pending.", annotations=READ)
def firing_alerts():
    alerts = prometheus("/api/v1/alerts").get("alerts") or []
    lines = []
    for alert in alerts[:100]:
        labels = dict(alert.get("labels") or {})
        notes = alert.get("annotations") or {}
        lines.append("%s %s since %s: %s" % (alert.get("state"), labels.pop("alertname", "?"), str(alert.get("activeAt"))[:19], notes.get("summary") or notes.get("description") or label(labels)))
    return "\n".join(lines) or "No alert is firing."


server.run()
