package audit

import (
	"io/fs"
	"strings"
)

// NodePackage is the name of npm's package to which a path belongs: that below the last
// node_modules in it, with its scope. It is "" for a path outside every package.
func NodePackage(path string) string {
	const dir = "node_modules/"
	i := strings.LastIndex("/"+path, "/"+dir)
	if i < 0 {
		return ""
	}
	name, rest, _ := strings.Cut(path[i+len(dir):], "/")
	if strings.HasPrefix(name, "@") {
		second, _, _ := strings.Cut(rest, "/")
		name += "/" + second
	}
	if !fs.ValidPath(name) || name == "." {
		return ""
	}
	return name
}
