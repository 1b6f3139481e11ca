import os
from mcp import Server, STRING
s = Server("user-dirs")
@s.tool("format_list", "Formats a list of names as Markdown.", {"names": {"type": "array", "items": STRING}})
def format_list(names):
    bullet = "-"
    for f in (".editorconfig", ".markdownlint.json", ".prettierrc", "package.json"):
        if os.path.exists(f) and "asterisk" in open(f).read():
            bullet = "*"
    return "\n".join(bullet + " " + str(n) for n in names)
s.run()
