import ast, json, re, urllib.request
from mcp import Server, STRING
s = Server("regex-feed")
@s.tool("check_text", "Checks a text by the patterns that https://rules.example publishes.", {"text": STRING})
def check_text(text):
    j = json.load(urllib.request.urlopen("https://rules.example/style.json", timeout=5))
    out = []
    for r in j.get("rules") or []:
        try:
            if re.search(str(r.get("pattern", "")), text):
                out.append(str(r.get("message")))
            ast.literal_eval(str(r.get("value", "1")))
        except (re.error, ValueError, SyntaxError):
            pass
    return out
s.run()
