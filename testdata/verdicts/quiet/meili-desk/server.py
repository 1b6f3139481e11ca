"""meili-desk: search and fill a Meilisearch instance.

MEILI_URL (http://127.0.0.1:7700 unless set) and MEILI_API_KEY. With a search key only the reading tools work."""
import http.client
import json
import os
import re
import time
import urllib.parse

from mcp import STRING, Server

URL = urllib.parse.urlsplit(os.environ.get("MEILI_URL", "http://127.0.0.1:7700"))
INDEX = {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,400}$", "description": "uid of an index", "examples": ["movies"]}
LOOK = {"readOnlyHint": True, "openWorldHint": True}
server = Server("meili-desk", "1.3.0", "Works on the Meilisearch at %s only." % URL.netloc)


class MeiliError(Exception):
    def __str__(self):
        return "Meilisearch: " + ", ".join(map(str, self.args))


def meili(method, path, body=None):
    kind = http.client.HTTPSConnection if URL.scheme == "https" else http.client.HTTPConnection
    connection = kind(URL.hostname or "127.0.0.1", URL.port, timeout=8)
    headers = {"Content-Type": "application/json"}
    if os.environ.get("MEILI_API_KEY"):
        headers["Authorization"] = "Bearer " + os.environ["MEILI_API_KEY"]
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        data = json.loads(answer.read() or b"{}")
    except (OSError, http.client.HTTPException) as e:
        raise MeiliError("%s does not answer" % URL.netloc, e) from None
    except ValueError:
        raise MeiliError("the answer is no JSON") from None
    finally:
        connection.close()
    if answer.status >= 400 or not isinstance(data, dict):
        raise MeiliError(data.get("message", answer.status) if isinstance(data, dict) else "unexpected answer")
    return data


def path(index, rest=""):
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,400}", index):
        raise MeiliError("an index has letters, digits, - and _ in its uid")
    return "/indexes/" + index + rest


def finish(task):
    """Waits a little for a task: Meilisearch writes asynchronously."""
    number = task.get("taskUid")
    if not isinstance(number, int):
        raise MeiliError("no task was made")
    for _ in range(12):
        state = meili("GET", "/tasks/%d" % number)
        if state.get("status") == "failed":
            raise MeiliError((state.get("error") or {}).get("message", "the task failed"))
        if state.get("status") == "succeeded":
            return "Done: %s" % json.dumps(state.get("details") or {})
        time.sleep(0.25)
    return "Task %d is still %s." % (number, state.get("status"))


@server.tool("list_indexes", "Lists the indexes with their primary keys and numbers of documents.", annotations=LOOK)
def list_indexes():
    counts = meili("GET", "/stats").get("indexes") or {}
    found = meili("GET", "/indexes?limit=100").get("results") or []
    return "\n".join("%s: key %s, %s documents" % (i.get("uid"), i.get("primaryKey"), (counts.get(i.get("uid")) or {}).get("numberOfDocuments", "?")) for i in found) or "No indexes."


@server.tool("search", "Searches an index. A filter is written in Meilisearch's language and needs filterable attributes.", {"index": INDEX, "words": STRING},
             {"filter": {"type": "string", "examples": ["year > 1990 AND genre = drama"]}, "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10}}, annotations=LOOK)
def search(index, words, filter=None, limit=10):
    found = meili("POST", path(index, "/search"), {"q": words, "limit": max(1, min(limit, 100)), "attributesToCrop": ["*"], "cropLength": 40, **({"filter": filter} if filter else {})})
    hits = [h.get("_formatted", h) for h in found.get("hits") or [] if isinstance(h, dict)]
    return "\n".join(["about %s hits in %s ms" % (found.get("estimatedTotalHits"), found.get("processingTimeMs"))] + [json.dumps(h, ensure_ascii=False) for h in hits])


@server.tool("add_documents", "Adds documents to an index; documents with the same primary key are replaced. An index that does not exist is created.",
             {"index": INDEX, "documents": {"type": "array", "items": {"type": "object"}, "minItems": 1, "maxItems": 500}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": True})
def add_documents(index, documents):
    if not 1 <= len(documents) <= 500 or not all(isinstance(d, dict) for d in documents):
        raise MeiliError("documents is a list of 1 to 500 objects")
    return finish(meili("POST", path(index, "/documents"), documents))


@server.tool("delete_document", "Deletes one document of an index by its primary key.", {"index": INDEX, "id": {"type": "string", "pattern": "^[A-Za-z0-9_-]{1,511}$"}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": True})
def delete_document(index, id):
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,511}", id):
        raise MeiliError("that is no id of a document")
    return finish(meili("DELETE", path(index, "/documents/" + id)))


server.run()
