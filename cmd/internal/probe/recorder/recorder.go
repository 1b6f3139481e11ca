package recorder

import (
	_ "embed"
	"encoding/json"
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
)

//go:embed sitecustomize.py
var python string

//go:embed next.py
var next string

//go:embed record.cjs
var node string

// Hook is a start-up hook of Python (sitecustomize.py) that runs a program, after the hook that it stands before.
func Hook(program []byte) []byte { return append([]byte(next+"\n\n"), program...) }

// placesMark stands in a program for the places that it works with.
const placesMark = `"@PLACES@"`

// Files are the programs, with a directory below dir to which they write. root is the directory of
// the server's own code in the sandbox; nothing outside of it is recorded.
func Files(dir, root string) []rootfs.File {
	places, _ := json.Marshal(root + "\n" + Out(dir)) // a string has a JSON form
	text := func(program string) []byte {
		return []byte(strings.Replace(program, placesMark, string(places), 1))
	}
	return []rootfs.File{
		{Path: dir, Mode: 0o755, Dir: true},
		{Path: Out(dir), Mode: 0o755, Dir: true},
		{Path: path.Join(dir, "sitecustomize.py"), Mode: 0o644, Data: Hook(text(python))},
		{Path: module(dir), Mode: 0o644, Data: text(node)},
	}
}

// Out is the directory to which the programs write. Its files are coverage.Recordings.
func Out(dir string) string { return path.Join(dir, "out") }

func module(dir string) string { return path.Join(dir, "record.cjs") }

// Env are the variables, by name, by which the programs are loaded, from what they are without them.
func Env(dir string, old func(name string) string) map[string]string {
	join := func(a, separator, b string) string { return strings.TrimSuffix(a+separator+b, separator) }
	return map[string]string{
		"PYTHONPATH":   join(dir, ":", old("PYTHONPATH")),
		"NODE_OPTIONS": join("--require "+module(dir), " ", old("NODE_OPTIONS")),
	}
}
