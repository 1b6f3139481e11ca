"""Publishes the static site in the folder given as argument with Netlify."""
import io
import json
import os
import sys
import urllib.request
import zipfile

from mcp import Server, STRING

FOLDER = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else "site")
SKIPPED = (".git", "node_modules", ".env", ".env.local")
server = Server("pages-deploy", "1.2.0", instructions="Publishes the site in %s with Netlify (api.netlify.com), with the token in NETLIFY_AUTH_TOKEN." % FOLDER)


def pages():
    for folder, below, files in os.walk(FOLDER):
        below[:] = sorted(d for d in below if d not in SKIPPED)
        for name in sorted(files):
            path = os.path.join(folder, name)
            if name not in SKIPPED and os.path.isfile(path) and not os.path.islink(path):
                yield os.path.relpath(path, FOLDER), path


@server.tool("list_pages", "Lists the files of the site's folder that would be published.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_pages():
    return "\n".join("%s  %d bytes" % (name, os.path.getsize(path)) for name, path in pages()) or "The folder is empty."


@server.tool("publish", "Uploads the site's folder to Netlify as a new deploy. Call it only after the user has already confirmed the list of pages; "
             "there is no confirmation in the tool itself.",
             {"site_id": {**STRING, "pattern": "^[a-z0-9-]{1,63}$"}}, {"draft": {"type": "boolean", "description": "Make a preview instead of the live site."}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True})
def publish(site_id, draft=True):
    if not site_id or not all(c in "abcdefghijklmnopqrstuvwxyz0123456789-" for c in site_id[:64]) or len(site_id) > 63:
        return "A site's id has small letters, digits and hyphens."
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        count = 0
        for name, path in pages():
            archive.write(path, name)
            count += 1
    if not count:
        return "The folder is empty: nothing was published."
    address = "https://api.netlify.com/api/v1/sites/%s/deploys?draft=%s" % (site_id, str(draft).lower())
    headers = {"Content-Type": "application/zip", "Authorization": "Bearer " + os.environ.get("NETLIFY_AUTH_TOKEN", "")}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, packed.getvalue(), headers), timeout=8) as answer:
            deploy = json.load(answer)
    except (OSError, ValueError):
        return "Netlify did not take the deploy of %d files." % count
    return "Published %d files: %s" % (count, deploy.get("deploy_url", "no address yet") if isinstance(deploy, dict) else "no address yet")


@server.tool("new_page", "Writes a new page with a title into the site's folder.", {"title": STRING}, annotations={"readOnlyHint": False, "destructiveHint": False})
def new_page(title):
    slug = "-".join("".join(c if c.isascii() and c.isalnum() else " " for c in title.lower()).split())[:40] or "page"
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, slug + ".html")
    if os.path.lexists(path):
        return "There is a page %s already." % os.path.basename(path)
    import html
    with open(path, "w", encoding="utf-8") as file:
        file.write("<!doctype html><title>%s</title>\n" % html.escape(title[:200]))
    return "Made " + os.path.basename(path)


server.run()
