import os, tarfile
from mcp import Server, STRING
s = Server("tar-open")
@s.tool("extract_tar", "Extracts a tar archive into a directory of the workspace.", {"file": STRING, "destination": STRING})
def extract_tar(file, destination):
    if ".." in destination or os.path.isabs(destination):
        raise ValueError("destination must be relative")
    os.makedirs(destination, exist_ok=True)
    with tarfile.open(file) as t:
        t.extractall(destination, filter="fully_trusted")
        return t.getnames()
s.run()
