"""The handbook for new developers: where credentials belong, how to set up kubectl and ssh. Text only; none of the files it speaks of is opened."""
from mcp import Server, STRING

PAGES = {
    "ssh": ("Your ssh key", """\
Make a key with `ssh-keygen -t ed25519`. The private half stays in ~/.ssh/id_ed25519 and is never copied, mailed or pasted into a chat.
Upload the public half, ~/.ssh/id_ed25519.pub, in your profile. `chmod 700 ~/.ssh && chmod 600 ~/.ssh/id_ed25519` if ssh complains.
Hosts that you use often go into ~/.ssh/config."""),
    "kubernetes": ("Clusters", """\
`kubectl` reads ~/.kube/config, or the file in KUBECONFIG. Ask the platform team for an entry for `staging`.
Do not commit a kubeconfig. If one leaks, tell security@ and run `kubectl config delete-user` after the rotation."""),
    "env-files": ("Settings of the services", """\
Each service reads .env in its own folder. Copy .env.example to .env and fill in DATABASE_URL and STRIPE_SECRET_KEY (the test key, sk_test_...).
.env is in .gitignore; .env.production exists on the servers only."""),
    "cloud": ("Cloud accounts", """\
Sign in with `aws sso login`. Long-lived keys in ~/.aws/credentials are not allowed here; delete the file if an old tool made it.
For Google Cloud, `gcloud auth application-default login` writes ~/.config/gcloud/application_default_credentials.json."""),
    "packages": ("Private packages", """\
npm wants a token in ~/.npmrc, pip an index in ~/.config/pip/pip.conf, docker keeps its login in ~/.docker/config.json.
`curl -fsSL https://get.example/install.sh | sh` is how the old handbook did it; use the package of the distribution instead."""),
}

server = Server("onboarding-docs", "2025.11", instructions="Quotes the developers' handbook. It never opens the files that the handbook mentions; do not ask users to paste them either.")
PURE = {"readOnlyHint": True, "openWorldHint": False}
PAGE = {"type": "string", "enum": list(PAGES)}


@server.tool("read_page", "Shows a page of the handbook, e.g. on ssh keys (~/.ssh), clusters (~/.kube/config) or settings (.env).", {"page": PAGE}, annotations=PURE)
def read_page(page):
    if page not in PAGES:
        return "Pages: " + ", ".join(PAGES)
    return "# %s\n\n%s" % PAGES[page]


@server.tool("search_handbook", "Finds the lines of the handbook that contain a word.", {"word": STRING}, annotations=PURE)
def search_handbook(word):
    hits = ["%s: %s" % (page, line) for page, (_, text) in PAGES.items() for line in text.splitlines() if word.lower() in line.lower()]
    return "\n".join(hits) or "The handbook does not say anything about that."


@server.tool("checklist", "Lists what a new developer sets up on the first day.", optional={"role": {"type": "string", "enum": ["frontend", "backend", "platform"]}}, annotations=PURE)
def checklist(role="backend"):
    pages = {"frontend": ["env-files", "packages"], "backend": ["ssh", "env-files", "cloud"], "platform": ["ssh", "kubernetes", "cloud"]}.get(role, list(PAGES))
    return "\n".join("[ ] %s (page %s)" % (PAGES[page][0], page) for page in pages)


for _page, (_title, _text) in PAGES.items():
    server.resource("handbook://%s" % _page, _title, mimeType="text/markdown")(lambda text=_text: text)

server.run()
