"""Summaries and titles by a model of GitHub Models. The text that is given goes to models.github.ai, nothing else."""
import json
import os
import time
import urllib.error
import urllib.request

from mcp import Server, STRING

API = "https://models.github.ai"
TOKEN = os.environ.get("GITHUB_TOKEN", "")
MODEL = os.environ.get("SUMMARY_MODEL", "openai/gpt-4o-mini")

server = Server("model-summaries", "1.0.3", instructions="Texts are sent to GitHub Models (models.github.ai) with the token in GITHUB_TOKEN, which needs the models:read permission.")
WEB = {"readOnlyHint": True, "openWorldHint": True}


def request(path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Authorization": "Bearer " + TOKEN, "Accept": "application/vnd.github+json", "Content-Type": "application/json", "X-GitHub-Api-Version": "2022-11-28"}
    for attempt in range(3):
        try:
            with urllib.request.urlopen(urllib.request.Request(API + path, data, headers), timeout=10) as response:
                return json.loads(response.read(1 << 20))
        except urllib.error.HTTPError as error:
            if error.code not in (429, 502, 503) or attempt == 2:
                return {"error": {"message": "status %d" % error.code}}
            wait = error.headers.get("Retry-After", "")
            time.sleep(min(int(wait), 2) if wait.isdigit() else 0.3 * 2 ** attempt)
        except (OSError, ValueError) as error:
            if attempt == 2:
                return {"error": {"message": str(error)}}
            time.sleep(0.2)


def ask(system, text):
    if not TOKEN:
        return "Set GITHUB_TOKEN to a token with the models:read permission."
    answer = request("/inference/chat/completions", {"model": MODEL, "temperature": 0.2, "messages": [
        {"role": "system", "content": system}, {"role": "user", "content": text[:20000]}]})
    try:
        return answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        return "The model gave no answer; try again later."


@server.tool("summarize", "Sends a text to a model of GitHub Models and returns a short summary.",
             {"text": STRING}, {"sentences": {"type": "integer", "minimum": 1, "maximum": 10}}, annotations=WEB)
def summarize(text, sentences=3):
    return ask("Summarize what the user sends in at most %d sentences. Answer in its language." % max(1, min(sentences, 10)), text)


@server.tool("suggest_title", "Sends a text to a model of GitHub Models and returns a title for it.", {"text": STRING}, annotations=WEB)
def suggest_title(text):
    return ask("Answer with one title of at most eight words for what the user sends, and nothing else.", text)


@server.tool("list_models", "Lists the models of the GitHub Models catalogue.", annotations=WEB)
def list_models():
    models = request("/catalog/models")
    names = [m["id"] for m in models if isinstance(m, dict) and "id" in m] if isinstance(models, list) else []
    return "\n".join(map(str, names)) or "The catalogue is empty or cannot be read right now."


server.run()
