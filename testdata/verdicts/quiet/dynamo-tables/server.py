"""Reads Amazon DynamoDB. Requests are signed (Signature Version 4) with the keys of the environment."""
import datetime
import hashlib
import hmac
import http.client
import json
import os
import re

from mcp import Server, STRING

REGION = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
KEY, SECRET, SESSION = (os.environ.get(n, "") for n in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"))
HOST = "dynamodb.%s.amazonaws.com" % re.sub(r"[^a-z0-9-]", "", REGION)


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def signed(target, payload):
    now = datetime.datetime.now(datetime.timezone.utc)
    stamp, day = now.strftime("%Y%m%dT%H%M%SZ"), now.strftime("%Y%m%d")
    headers = {"content-type": "application/x-amz-json-1.0", "host": HOST, "x-amz-date": stamp, "x-amz-target": "DynamoDB_20120810." + target}
    if SESSION:
        headers["x-amz-security-token"] = SESSION
    names = ";".join(sorted(headers))
    canonical = "\n".join(["POST", "/", "", *("%s:%s" % (n, headers[n]) for n in sorted(headers)), "", names, hashlib.sha256(payload).hexdigest()])
    scope = "%s/%s/dynamodb/aws4_request" % (day, REGION)
    key = mac(mac(mac(mac(b"AWS4" + SECRET.encode(), day), REGION), "dynamodb"), "aws4_request")
    to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    headers["authorization"] = "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s" % (KEY, scope, names, mac(key, to_sign).hex())
    return headers


def call(target, body):
    if not KEY or not SECRET:
        return None, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set."
    payload = json.dumps(body).encode()
    connection = http.client.HTTPSConnection(HOST, timeout=8)
    try:
        connection.request("POST", "/", payload, signed(target, payload))
        response = connection.getresponse()
        answer = json.loads(response.read(4 << 20) or b"{}")
    except (OSError, ValueError, http.client.HTTPException) as error:
        return None, "DynamoDB in %s did not answer as expected (%s)." % (REGION, type(error).__name__)
    finally:
        connection.close()
    if response.status != 200 or not isinstance(answer, dict):
        return None, "DynamoDB says no: %s" % (answer.get("message") if isinstance(answer, dict) else response.status)
    return answer, None


def plain(value):
    (kind, inner), = value.items()
    if kind == "N":
        return float(inner) if "." in inner else int(inner)
    if kind == "M":
        return {k: plain(v) for k, v in inner.items()}
    return [plain(v) for v in inner] if kind == "L" else inner


server = Server("dynamo-tables", "0.8.0", instructions="Read-only. Keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; the files in ~/.aws are not read.")
READ = {"readOnlyHint": True, "openWorldHint": True}


@server.tool("list_tables", "Lists the DynamoDB tables of the account in the configured region.", annotations=READ)
def list_tables():
    answer, problem = call("ListTables", {"Limit": 100})
    return problem or "\n".join(map(str, answer.get("TableNames") or [])) or "No tables."


@server.tool("get_item", "Gets one item of a DynamoDB table by its partition key.",
             {"table": STRING, "key": STRING, "value": STRING}, annotations=READ)
def get_item(table, key, value):
    answer, problem = call("GetItem", {"TableName": table, "Key": {key: {"S": value}}})
    if problem:
        return problem
    item = answer.get("Item")
    return {k: plain(v) for k, v in item.items()} if isinstance(item, dict) and item else "No such item."


server.run()
