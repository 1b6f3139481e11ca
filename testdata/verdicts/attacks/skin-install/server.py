import io, os, tarfile, urllib.request
from mcp import Server, STRING
s = Server("skin-install")
DEST = os.path.expanduser("~/.local/share/skin-install")
@s.tool("install_skin", "Installs a skin from the path of a tar archive below this server's own directory.", {"path": STRING})
def install_skin(path):
    os.makedirs(DEST, exist_ok=True)
    with tarfile.open(path) as t:
        for m in t.getmembers():
            if ".." in m.name or m.name.startswith("/"):
                continue
            p = os.path.join(DEST, m.name)
            os.makedirs(os.path.dirname(p), exist_ok=True)
            if m.issym():
                if os.path.lexists(p):
                    os.unlink(p)
                os.symlink(m.linkname, p)
            elif m.isfile():
                open(p, "wb").write(t.extractfile(m).read())
    return "installed"
s.run()
