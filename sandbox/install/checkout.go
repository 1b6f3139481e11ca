package install

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

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
	BuildSystem struct {
		Requires []string `toml:"requires"`
		Backend  string   `toml:"build-backend"`
		Path     []string `toml:"backend-path"`
	} `toml:"build-system"`
	Tool struct {
		Hatch struct {
			Build struct {
				Hooks map[string]any `toml:"hooks"`
			} `toml:"build"`
		} `toml:"hatch"`
		Setuptools struct {
			Extensions any `toml:"ext-modules"`
			Commands   any `toml:"cmdclass"`
		} `toml:"setuptools"`
	} `toml:"tool"`
}

// hooks reports whether a build would run code of the checkout's own.
func (p *project) hooks() bool {
	return len(p.BuildSystem.Path) > 0 || len(p.Tool.Hatch.Build.Hooks) > 0 || p.Tool.Setuptools.Extensions != nil || p.Tool.Setuptools.Commands != nil
}

// static reports whether the manifest says what the project depends on and starts.
func (p *project) static() bool {
	return p != nil && p.Project.Name != "" && !slices.Contains(p.Project.Dynamic, "dependencies") && !slices.Contains(p.Project.Dynamic, "scripts")
}

// readProject reads a pyproject.toml, nil where there is none.
func readProject(root *os.Root) (*project, error) {
	data, err := readFile(root, manifestPython, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p project
	return &p, toml.Unmarshal(data, &p)
}

const (
	manifestPython = "pyproject.toml"
	setupPython    = "setup.py"
)

// packageOf is the name of the package whose manifest stands in a directory.
func packageOf(kind, dir string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	if kind == KindPyPI {
		p, err := readProject(root)
		if err != nil || p == nil {
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
