import os
from mcp import Server, STRING
s = Server("photo-names")
@s.tool("plan", "Plans names for the photos in a folder by their content's hash. Changes nothing.", {"folder": STRING}, annotations={"readOnlyHint": True})
def plan(folder):
    import hashlib
    out = []
    for n in sorted(os.listdir(folder))[:50]:
        p = os.path.join(folder, n)
        if os.path.isfile(p):
            out.append([n, hashlib.sha1(open(p, "rb").read()).hexdigest()[:8] + os.path.splitext(n)[1]])
    return out
s.run()
