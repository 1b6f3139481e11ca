#!/usr/bin/env python3
"""zulip-streams: channels and topics of a Zulip server, as a bot.

ZULIP_SITE, ZULIP_EMAIL and ZULIP_API_KEY say who and where; what is missing is looked up in ~/.zuliprc, as Zulip's own tools do.
ZULIP_POST_TO is a list of channels with commas between them; the bot posts to those only."""
import base64
import configparser
import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

RC = Path(os.environ.get("ZULIP_CONFIG") or Path.home() / ".zuliprc")
POST_TO = [c.strip() for c in os.environ.get("ZULIP_POST_TO", "").split(",") if c.strip()]


def settings():
    found = {k: os.environ.get("ZULIP_" + k.upper().replace("KEY", "API_KEY"), "") for k in ("site", "email", "key")}
    if not all(found.values()) and RC.is_file():
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(RC, encoding="utf-8")
        for k in found:
            found[k] = found[k] or parser.get("api", k, fallback="")
    if not all(found.values()):
        raise RuntimeError("set ZULIP_SITE, ZULIP_EMAIL and ZULIP_API_KEY, or download a zuliprc to %s" % RC)
    if not found["site"].startswith("https://"):
        raise RuntimeError("the site has to start with https://")
    return found


def zulip(method, path, **fields):
    s = settings()
    data = urllib.parse.urlencode({k: v if isinstance(v, str) else json.dumps(v) for k, v in fields.items()})
    url = s["site"].rstrip("/") + "/api/v1" + path
    request = urllib.request.Request(url + ("?" + data if method == "GET" and data else ""), data=data.encode() if method == "POST" else None, method=method)
    request.add_unredirected_header("Authorization", "Basic " + base64.b64encode(("%s:%s" % (s["email"], s["key"])).encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            data = json.loads(answer.read(5_000_000))
    except urllib.error.HTTPError as error:
        raise RuntimeError("%s answered %d" % (s["site"], error.code)) from None
    except urllib.error.URLError as error:
        raise RuntimeError("%s is not reachable: %s" % (s["site"], error.reason)) from None
    except ValueError:
        raise RuntimeError("%s gives no JSON; is it a Zulip?" % s["site"]) from None
    if not isinstance(data, dict) or data.get("result") != "success":
        raise RuntimeError("Zulip says: %s" % (data.get("msg") if isinstance(data, dict) else "nothing useful"))
    return data


def string(args, name, longest):
    value = args.get(name)
    if not isinstance(value, str) or not value.strip() or len(value) > longest:
        raise ValueError("%s is a text of at most %d characters" % (name, longest))
    value.encode("utf-8")
    return value.strip()


def list_channels(args):
    return "\n".join("%s: %s" % (s.get("name"), s.get("description") or "no description") for s in zulip("GET", "/streams", include_public=True).get("streams", [])) or "The bot sees no channels."


def read_topic(args):
    count = args.get("count", 20)
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= 100:
        raise ValueError("count is a whole number from 1 to 100")
    narrow = [{"operator": "channel", "operand": string(args, "channel", 60)}, {"operator": "topic", "operand": string(args, "topic", 60)}]
    data = zulip("GET", "/messages", anchor="newest", num_before=count, num_after=0, apply_markdown=False, narrow=narrow)
    return "\n\n".join("%s: %s" % (m.get("sender_full_name"), m.get("content")) for m in data.get("messages", [])) or "There are no such messages."


def post_message(args):
    channel, topic, content = string(args, "channel", 60), string(args, "topic", 60), string(args, "content", 10000)
    if POST_TO and channel not in POST_TO:
        raise ValueError("the bot posts to %s only" % ", ".join(POST_TO))
    return "Posted, message %s." % zulip("POST", "/messages", type="stream", to=channel, topic=topic, content=content).get("id")


CHANNEL, TOPIC = {"type": "string", "maxLength": 60}, {"type": "string", "maxLength": 60}
TOOLS = {
    "list_channels": (list_channels, "Lists the channels of the Zulip server that the bot can see.", {}, [], {"readOnlyHint": True}),
    "read_topic": (read_topic, "Reads the newest messages of a topic in a Zulip channel. They are other people's words.", {"channel": CHANNEL, "topic": TOPIC, "count": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}}, ["channel", "topic"], {"readOnlyHint": True}),
    "post_message": (post_message, "Posts a message to a topic of a Zulip channel as the bot, where everyone in the channel sees it." + (" Channels: %s." % ", ".join(POST_TO) if POST_TO else ""),
                     {"channel": CHANNEL, "topic": TOPIC, "content": {"type": "string", "maxLength": 10000}}, ["channel", "topic", "content"], {"readOnlyHint": False, "destructiveHint": False}),
}


def call(params):
    name, args = params.get("name"), params.get("arguments") or {}
    if not isinstance(name, str) or name not in TOOLS or not isinstance(args, dict):
        return {"isError": True, "content": [{"type": "text", "text": "No such tool, or the arguments are no object."}]}
    try:
        return {"content": [{"type": "text", "text": TOOLS[name][0](args)}]}
    except Exception as error:
        return {"isError": True, "content": [{"type": "text", "text": str(error)}]}


INFO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "zulip-streams", "version": "0.4.1"}, "instructions": "Works on the Zulip server of ZULIP_SITE or of %s." % RC}
for line in sys.stdin:
    try:
        request = json.loads(line)
        ident, method, params = request["id"], request["method"], request.get("params")
    except (ValueError, KeyError, TypeError, AttributeError):
        continue
    params = params if isinstance(params, dict) else {}
    reply = {"jsonrpc": "2.0", "id": ident}
    if method == "initialize":
        reply["result"] = {"protocolVersion": params.get("protocolVersion", "2025-06-18"), **INFO}
    elif method == "tools/list":
        reply["result"] = {"tools": [{"name": n, "description": d, "inputSchema": {"type": "object", "properties": p, "required": r}, "annotations": a} for n, (_, d, p, r, a) in TOOLS.items()]}
    elif method == "tools/call":
        reply["result"] = call(params)
    elif method == "ping":
        reply["result"] = {}
    else:
        reply["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(reply), flush=True)
