"""gcs-buckets: looks into Google Cloud Storage and fetches objects.

Public buckets need no login. For others the token is GCS_ACCESS_TOKEN, or what `gcloud auth print-access-token` prints.
"""
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.parse import quote, urlencode

from mcp import STRING, Server

HOST = "storage.googleapis.com"
FOLDER = Path("downloads")
LOGIN = Path(os.environ.get("CLOUDSDK_CONFIG") or Path.home() / ".config/gcloud") / "credentials.db"  # made by gcloud auth login
LARGEST = 100 << 20
BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")

server = Server("gcs-buckets", "0.5.0", instructions=(
    "Reads Google Cloud Storage (storage.googleapis.com). Logs in with GCS_ACCESS_TOKEN, or runs `gcloud auth print-access-token` if gcloud has a login; without either, only public buckets can be read."))
_token = {"value": None, "until": 0.0}


def token():
    if os.environ.get("GCS_ACCESS_TOKEN"):
        return os.environ["GCS_ACCESS_TOKEN"]
    if time.monotonic() < _token["until"]:
        return _token["value"]
    value = None
    if LOGIN.is_file() and shutil.which("gcloud"):
        done = subprocess.run(["gcloud", "auth", "print-access-token", "--quiet"], capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL,
                              env={**os.environ, "CLOUDSDK_CORE_DISABLE_FILE_LOGGING": "1", "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false"})
        value = done.stdout.strip() if done.returncode == 0 else None
    _token.update(value=value, until=time.monotonic() + 3000)  # tokens last an hour
    return value


def get(path, query):
    headers = {"User-Agent": "gcs-buckets/0.5.0"}
    if token():
        headers["Authorization"] = "Bearer " + token()
    connection = http.client.HTTPSConnection(HOST, timeout=20)
    connection.request("GET", "%s?%s" % (path, urlencode(query)), headers=headers)
    response = connection.getresponse()
    if response.status != 200:
        body = response.read(2000)
        try:
            reason = json.loads(body)["error"]["message"]
        except (ValueError, KeyError, TypeError):
            reason = response.reason
        raise RuntimeError("%s answered %d: %s" % (HOST, response.status, reason))
    return response


def bucket_path(bucket, name=None):
    if not BUCKET.fullmatch(bucket):
        raise ValueError("%r is no bucket name" % bucket)
    return "/storage/v1/b/%s/o" % bucket + ("/" + quote(name, safe="") if name is not None else "")


def size(n):
    n = float(n)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if n < 1024:
            break
        n /= 1024
    return "%.4g %s" % (n, unit)


@server.tool("list_objects", "Lists folders and objects of a bucket, up to 500.", required={"bucket": STRING},
             optional={"prefix": {"type": "string", "description": "For example logs/2024/"}}, annotations={"readOnlyHint": True, "openWorldHint": True})
def list_objects(bucket, prefix=""):
    data = json.load(get(bucket_path(bucket), {"prefix": prefix, "delimiter": "/", "maxResults": 500, "fields": "prefixes,items(name,size,updated),nextPageToken"}))
    lines = list(data.get("prefixes", [])) + ["%s  %s  %s" % (o["name"], size(o.get("size", 0)), o.get("updated", "")[:10]) for o in data.get("items", [])]
    return "\n".join(lines + (["... there are more; use a longer prefix"] if data.get("nextPageToken") else [])) or "Nothing there."


@server.tool("object_info", "Shows size, type, storage class, checksum and times of an object.", required={"bucket": STRING, "name": STRING},
             annotations={"readOnlyHint": True, "openWorldHint": True})
def object_info(bucket, name):
    data = json.load(get(bucket_path(bucket, name), {"fields": "name,size,contentType,storageClass,md5Hash,timeCreated,updated,retentionExpirationTime"}))
    return "\n".join("%s: %s" % pair for pair in data.items())


@server.tool("download_object", "Downloads an object of at most 100 MiB to the folder downloads of the working directory. A file that is there is not replaced.",
             required={"bucket": STRING, "name": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True})
def download_object(bucket, name):
    file = re.sub(r"[^\w.\- ]", "_", name.rstrip("/").rsplit("/", 1)[-1]).lstrip(".") or "object"
    target = FOLDER / file
    if target.exists():
        raise FileExistsError("%s is there already" % target)
    response = get(bucket_path(bucket, name), {"alt": "media"})
    FOLDER.mkdir(exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=FOLDER, suffix=".part")
    done = 0
    try:
        with os.fdopen(handle, "wb") as out:
            while block := response.read(1 << 18):
                done += len(block)
                if done > LARGEST:
                    raise ValueError("%s is larger than %s" % (name, size(LARGEST)))
                out.write(block)
        os.link(temporary, target)
    finally:
        os.unlink(temporary)
    return "%s: %s" % (target, size(done))


@server.tool("lifecycle_rule", "Writes the JSON of a lifecycle configuration that deletes or moves objects after some days, to be given to `gcloud storage buckets update --lifecycle-file`. Nothing is sent.",
             required={"days": {"type": "integer", "minimum": 1}}, optional={"prefix": STRING, "storage_class": {"type": "string", "enum": ["NEARLINE", "COLDLINE", "ARCHIVE"]}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def lifecycle_rule(days, prefix="", storage_class=""):
    if days < 1:
        raise ValueError("days is a number from 1")
    action = {"type": "SetStorageClass", "storageClass": storage_class} if storage_class else {"type": "Delete"}
    return json.dumps({"rule": [{"action": action, "condition": {"age": days, **({"matchesPrefix": [prefix]} if prefix else {})}}]}, indent=2)


server.run()
