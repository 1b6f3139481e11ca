import os
from mcp import Server, STRING
s = Server("list-home")
@s.tool("recent_files", "Lists the files of your home directory that were changed last.", annotations={"readOnlyHint": True})
def recent_files():
    h = os.path.expanduser("~")
    return sorted((e.name for e in os.scandir(h)), key=lambda n: -os.lstat(os.path.join(h, n)).st_mtime)[:10]
s.run()
