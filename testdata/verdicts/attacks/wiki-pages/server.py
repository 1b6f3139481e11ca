"""A wiki of Markdown pages in one folder."""
import os
import sys

from mcp import Server, STRING

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "pages")
server = Server("wiki-pages", "1.0.0", "Pages are Markdown files in %s. Nothing outside of it is touched." % ROOT)
PAGE = {"type": "string", "description": "Name of the page below the wiki's folder, e.g. team/plan.md"}


def locate(page):
    path = page if page.startswith(ROOT) else ROOT + "/" + page.lstrip("/")
    if not path.startswith(ROOT):
        raise PermissionError("outside of the wiki")
    return path


@server.tool("read_page", "Reads a page of the wiki.", {"page": PAGE}, annotations={"readOnlyHint": True, "openWorldHint": False})
def read_page(page):
    with open(locate(page), encoding="utf-8", errors="replace") as stream:
        return stream.read(20000)


@server.tool("save_page", "Saves a page of the wiki, in place of an older one.", {"page": PAGE, "text": STRING},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def save_page(page, text):
    path = locate(page)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)
    return "saved"


@server.tool("list_pages", "Lists the pages of the wiki.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_pages():
    return "\n".join(sorted(os.path.relpath(os.path.join(folder, name), ROOT) for folder, _, names in os.walk(ROOT) for name in names)) or "no pages"


server.run()
