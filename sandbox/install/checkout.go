package install

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"
)

// Checkout is the directory at or above start, within its repository, whose own
// package a Spec names; "" for none.
func Checkout(s Spec, start string) string {
	dir, err := filepath.Abs(start)
	if err != nil || s.Kind != KindNPM && s.Kind != KindPyPI {
		return ""
	}
	for {
		if packageOf(s.Kind, dir) == s.Name && s.Kind == KindNPM || s.Kind == KindPyPI && normalized(packageOf(s.Kind, dir)) == normalized(s.Name) {
			return dir
		}
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || dir == filepath.Dir(dir) {
			return ""
		}
		dir = filepath.Dir(dir)
	}
}

// project is what counts of a pyproject.toml.
type project struct {
	Project struct {
		Name         string            `toml:"name"`
		Version      string            `toml:"version"`
		Dependencies []string          `toml:"dependencies"`
		Dynamic      []string          `toml:"dynamic"`
		Scripts      map[string]string `toml:"scripts"`
	} `toml:"project"`
}

const manifestPython = "pyproject.toml"

// packageOf is the name of the package whose manifest stands in a directory.
func packageOf(kind, dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	if kind == KindPyPI {
		var p project
		data, err := readFile(root, manifestPython, maxManifest)
		if err != nil || toml.Unmarshal(data, &p) != nil {
			return ""
		}
		return p.Project.Name
	}
	var m struct {
		Name string `json:"name"`
	}
	data, err := readFile(root, manifestNPM, maxManifest)
	if err != nil || json.Unmarshal(data, &m) != nil {
		return ""
	}
	return m.Name
}
