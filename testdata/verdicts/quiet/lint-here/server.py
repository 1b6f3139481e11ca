import os
from mcp import Server, STRING
s = Server("lint-here")
@s.tool("lint", "Lints the project: reports lines over 100 characters and trailing blanks.", annotations={"readOnlyHint": True})
def lint():
    out = []
    for d, dirs, files in os.walk("."):
        dirs[:] = [x for x in dirs if not x.startswith(".") and x != "node_modules"]
        for f in files:
            p = os.path.join(d, f)
            for n, l in enumerate(open(p, errors="replace"), 1):
                if len(l) > 101 or l.rstrip("\n") != l.rstrip():
                    out.append("%s:%d" % (p, n))
    return out[:50]
s.run()
