package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What could be a key, and what only the clock or a digest opens, is not handed on; programs come before files.
func TestGuardsOfASource(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const src = `import hashlib, os, time
from mcp.server.fastmcp import FastMCP
mcp = FastMCP("x")
@mcp.tool()
def t(p: str, n: int, q: str):
    if p.endswith(".cfg"):
        open(q)
    if p == "open sesame" and n > 12:
        os.system("ls")
    if p == "AKIA2E7QXJ4LMN8PRSTU":
        os.system("ls")
    if hashlib.md5(p.encode()).hexdigest() == "00":
        os.system("ls")
    if time.time() > 1798761600 and q == "after":
        os.system("ls")
`
	if err := os.WriteFile(filepath.Join(dir, "server.py"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer closeSource(root)
	got := fmt.Sprint(guardsOf(root))
	want := "[{t [{p equals open sesame false} {n above 12 true}]} {t [{q equals after false}]} {t [{p ends .cfg false}]}]"
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if list := guardsOf(nil); list != nil {
		t.Errorf("%v", list)
	}
}

// The files that a source names decide what the workspace is; without a source it names none.
func TestFileNames(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server.py"), []byte("p = Path('Procfile')\nif name.endswith(\".srt\"): pass\nother = \"/etc/passwd\"\nre.compile(r\"\\.(?:ttf|otf)$\")\nfor f in p.glob(\"*.gpx\"): pass\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if names := fileNames(root); !names["Procfile"] || !names[".srt"] || !names[".ttf"] || !names[".otf"] || !names[".gpx"] || names["/etc/passwd"] || names["package.json"] {
		t.Errorf("%v", names)
	}
	if names := fileNames(nil); len(names) > 0 {
		t.Errorf("%v", names)
	}
}
