#!/usr/bin/env python3
"""wiki-summary: the first paragraph of a Wikipedia article.

Asks https://LANGUAGE.wikipedia.org and nothing else. Answers stay for a day in ~/.cache/wiki-summary, one file each, so
that the same article is not asked for again; older files are removed when the server starts.
"""
import hashlib
import json
import os
import re
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wiki-summary"
DAY = 24 * 3600
AGENT = "wiki-summary/1.2 (MCP server; one request per call)"
LANGUAGES = ["ar", "cs", "da", "de", "en", "es", "fi", "fr", "he", "hi", "it", "ja", "ko", "nl", "no", "pl", "pt", "ru", "simple", "sv", "tr", "uk", "zh"]


class StayAtWikipedia(urllib.request.HTTPRedirectHandler):
    """Follows a redirect only to another page of Wikipedia."""

    def redirect_request(self, request, fp, code, msg, headers, url):
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" or not (parts.hostname or "").endswith(".wikipedia.org"):
            raise urllib.error.URLError("Wikipedia redirected to another site")
        return super().redirect_request(request, fp, code, msg, headers, url)


opener = urllib.request.build_opener(StayAtWikipedia)


def fetch(language, path):
    url = "https://%s.wikipedia.org%s" % (language, path)
    request = urllib.request.Request(url, headers={"User-Agent": AGENT, "Accept": "application/json"})
    try:
        with opener.open(request, timeout=10) as response:
            body = response.read(1_000_001)
    except urllib.error.HTTPError as error:
        raise ValueError("there is no such article" if error.code == 404 else "Wikipedia answered %d" % error.code) from None
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise ValueError("Wikipedia cannot be reached: %s" % getattr(error, "reason", error)) from None
    if len(body) > 1_000_000:
        raise ValueError("the answer is too long")
    try:
        answer = json.loads(body)
    except ValueError:
        raise ValueError("the answer is not JSON") from None
    if not isinstance(answer, dict):
        raise ValueError("the answer has an unknown form")
    return answer


def entry(language, title):
    return CACHE / (hashlib.sha256(("%s:%s" % (language, title)).encode("utf-8")).hexdigest()[:32] + ".json")


def remembered():
    """Yields (path, content) of the cache files that can be read."""
    for path in sorted(CACHE.glob("*.json")):
        try:
            content = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(content, dict) and {"title", "language", "time"} <= content.keys():
            yield path, content


def remove_old():
    for path, content in remembered():
        if time.time() - content["time"] > DAY:
            path.unlink(missing_ok=True)


def checked(title, language):
    if language not in LANGUAGES:
        raise ValueError("language is one of " + ", ".join(LANGUAGES))
    title = re.sub(r"[\s_]+", " ", title).strip()
    if not title or len(title) > 200 or re.search(r"[#<>\[\]|{}\x00-\x1f]", title):
        raise ValueError("this cannot be the title of an article")
    return title


LANGUAGE = {"type": "string", "enum": LANGUAGES, "default": "en", "description": "Which Wikipedia"}
server = Server("wiki-summary", "1.2.0", "Asks Wikipedia (https://LANGUAGE.wikipedia.org) and caches summaries for a day in ~/.cache/wiki-summary.")


@server.tool("page_summary", "Returns the summary of one article from https://LANGUAGE.wikipedia.org, or from the cache in ~/.cache/wiki-summary if it was asked for within a day.",
             {"title": {"type": "string", "maxLength": 200, "examples": ["Alan Turing", "Lighthouse"]}}, {"language": LANGUAGE}, annotations={"readOnlyHint": True, "openWorldHint": True})
def page_summary(title, language="en"):
    title = checked(title, language)
    path = entry(language, title)
    for known, content in remembered():
        if known == path and time.time() - content["time"] < DAY:
            return {**content["summary"], "cached": True}
    page = fetch(language, "/api/rest_v1/page/summary/" + urllib.parse.quote(title.replace(" ", "_"), safe=""))
    if not isinstance(page.get("extract"), str):
        raise ValueError("the answer has no summary")
    summary = {"title": str(page.get("title", title)), "description": str(page.get("description") or ""), "extract": page["extract"]}
    fresh = path.with_suffix(".tmp%d" % os.getpid())
    fresh.write_text(json.dumps({"title": title, "language": language, "time": time.time(), "summary": summary}), "utf-8")
    fresh.replace(path)
    return summary


@server.tool("search_titles", "Searches the titles of articles at https://LANGUAGE.wikipedia.org. Not cached.",
             {"words": {"type": "string", "maxLength": 200, "examples": ["suspension bridge"]}}, {"language": LANGUAGE, "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5}}, annotations={"readOnlyHint": True, "openWorldHint": True})
def search_titles(words, language="en", limit=5):
    words = checked(words, language)
    if not 1 <= limit <= 20:
        raise ValueError("limit is a number from 1 to 20")
    found = fetch(language, "/w/rest.php/v1/search/title?" + urllib.parse.urlencode({"q": words, "limit": limit})).get("pages")
    return [{"title": page.get("title"), "description": page.get("description")} for page in found or [] if isinstance(page, dict)]


@server.tool("cached_articles", "Lists the articles in the cache of this server and their age in minutes. Asks nobody.", annotations={"readOnlyHint": True, "openWorldHint": False})
def cached_articles():
    return [{"title": c["title"], "language": c["language"], "minutes": int((time.time() - c["time"]) / 60)} for _, c in remembered()]


@server.tool("clear_cache", "Deletes the cached summaries in ~/.cache/wiki-summary.", annotations={"destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def clear_cache():
    files = list(CACHE.glob("*.json"))
    for path in files:
        path.unlink(missing_ok=True)
    return "Deleted %d summaries." % len(files)


CACHE.mkdir(parents=True, exist_ok=True)
remove_old()
server.run()
