package discover

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// The bounds on a tree. Where one is met, a fault says so.
const (
	maxEntries = 300_000
	maxDepth   = 24
	maxFiles   = 2000
	maxFaults  = 200
	// MaxFile bounds one configuration, in bytes.
	MaxFile = 16 << 20
)

// Kind is what an agent would run.
type Kind string

// The kinds beside servers.
const (
	KindHook   Kind = "hook"
	KindSkill  Kind = "skill"
	KindPlugin Kind = "plugin"
)

// Found is what a tree holds, in the order of its paths.
type Found struct {
	Files []File
	// Others are skills and plugins, by their directories.
	Others []Other
	// Skipped are directories that were not looked into, because of their names.
	Skipped []string
	Faults  []error
}

// File is a configuration.
type File struct {
	// Path leads from the root, with slashes.
	Path    string
	Client  string
	Servers []config.Server
	Hooks   []config.Hook
}

// Other is a directory from which an agent takes instructions and programs.
type Other struct {
	Kind Kind
	Path string
	// At is the file that makes it one.
	At string
}

// Tree looks through all of a tree.
func Tree(root *os.Root) *Found {
	w := &walker{root: root, found: &Found{}, read: map[string]bool{}}
	w.directory(".", 0)
	return w.sorted()
}

// Home looks at the places in a home directory where clients keep their configurations.
func Home(root *os.Root) *Found {
	w := &walker{root: root, found: &Found{}, read: map[string]bool{}}
	for _, name := range homes {
		info, err := root.Stat(strings.TrimSuffix(name, "/"))
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			w.fault(name, err)
		case info.IsDir():
			w.directory(strings.TrimSuffix(name, "/"), strings.Count(name, "/"))
		default:
			w.file(name)
		}
	}
	return w.sorted()
}

// walker is one way through a tree.
type walker struct {
	root    *os.Root
	found   *Found
	entries int
	full    bool
	// read are the configurations that were read, so that one which is named twice counts
	// once.
	read map[string]bool
}

func (w *walker) sorted() *Found {
	slices.SortStableFunc(w.found.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(w.found.Others, func(a, b Other) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind))
	})
	return w.found
}

// fault records what could not be looked at. The reason is the system's: a path leads it.
func (w *walker) fault(name string, err error) {
	var at *config.Error
	if !errors.As(err, &at) {
		var system *fs.PathError
		if errors.As(err, &system) {
			err = system.Err
		}
		at = &config.Error{Path: name, What: err.Error()}
	}
	if len(w.found.Faults) == maxFaults {
		at = &config.Error{Path: ".", What: "too many faults to list"}
	}
	if len(w.found.Faults) <= maxFaults {
		w.found.Faults = append(w.found.Faults, at)
	}
}

// directory looks through a directory. Links to directories are followed only where the
// link has a client's name, since a client follows it, and never out of the tree.
func (w *walker) directory(dir string, depth int) {
	if depth > maxDepth {
		w.fault(dir, fmt.Errorf("is more than %d directories deep; coalmine does not look into it", maxDepth))
		return
	}
	list, err := w.list(dir)
	if err != nil {
		w.fault(dir, err)
		return
	}
	for _, e := range list {
		if w.entries++; w.entries > maxEntries {
			if !w.full {
				w.fault(dir, fmt.Errorf("the tree has more than %d entries; coalmine ignores the rest", maxEntries))
			}
			w.full = true
			return
		}
		name := path.Join(dir, e.Name())
		switch {
		case e.IsDir() && skipped[e.Name()]:
			w.found.Skipped = append(w.found.Skipped, name)
		case e.IsDir():
			w.directory(name, depth+1)
		case e.Type()&fs.ModeSymlink != 0:
			w.link(name, depth)
		default:
			w.file(name)
		}
	}
}

// list reads a directory, in the order of names.
func (w *walker) list(dir string) ([]fs.DirEntry, error) {
	f, err := w.root.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// link looks at what a link leads to, if a client would.
func (w *walker) link(name string, depth int) {
	_, known := placeOf(name)
	known = known || path.Base(name) == "SKILL.md"
	if !known && !clientDirs[path.Base(name)] {
		return
	}
	info, err := w.root.Stat(name)
	switch {
	case err != nil:
		w.fault(name, errors.New("is a link to nothing, or out of the tree: it is not followed"))
	case info.IsDir() && !skipped[path.Base(name)]:
		// A client's directory is not deep, and a link may lead to one above it.
		w.directory(name, max(depth+1, maxDepth-4))
	case known:
		w.file(name)
	}
}

// file reads a file that a client would read.
func (w *walker) file(name string) {
	switch dir := path.Dir(name); {
	case path.Base(name) == "SKILL.md":
		w.found.Others = append(w.found.Others, Other{KindSkill, dir, name})
		return
	case matches(".claude-plugin/plugin.json", name) && path.Base(dir) == ".claude-plugin":
		w.found.Others = append(w.found.Others, Other{KindPlugin, path.Dir(dir), name})
	}
	if p, ok := placeOf(name); ok {
		w.configuration(name, p)
	}
}

// configuration reads a configuration, and the files that it names.
func (w *walker) configuration(name string, p place) {
	if w.read[name] {
		return
	}
	w.read[name] = true
	if len(w.found.Files) >= maxFiles {
		if len(w.found.Files) == maxFiles && !w.full {
			w.fault(name, fmt.Errorf("the tree has more than %d configurations: this one and those after it are not read", maxFiles))
			w.full = true
		}
		return
	}
	data, err := w.content(name)
	if err != nil {
		w.fault(name, err)
		return
	}
	f := config.ParseFile(name, data)
	for _, err := range f.Errs {
		if p.weak && (errors.Is(err, config.ErrNoServers) || len(f.Servers)+len(f.Hooks) == 0 && !speaksOfServers(data)) {
			continue
		}
		if errors.Is(err, config.ErrNoServers) && len(f.Hooks)+len(f.Includes) > 0 {
			continue
		}
		w.fault(name, err)
	}
	if len(f.Servers)+len(f.Hooks) > 0 {
		w.found.Files = append(w.found.Files, File{Path: name, Client: p.client, Servers: f.Servers, Hooks: f.Hooks})
	}
	for _, in := range f.Includes {
		w.include(name, in, p)
	}
}

// speaksOfServers reports whether a text that cannot be read has a word of a place of
// servers in it.
func speaksOfServers(data []byte) bool {
	text := string(data)
	for _, word := range []string{"mcpServers", "mcp_servers", "context_servers", "\"mcp\"", "mcp_config", "\"hooks\""} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// include reads a file that a plugin's manifest names, from the plugin's directory on.
func (w *walker) include(from string, in config.Include, p place) {
	top := path.Dir(from)
	if path.Base(top) == ".claude-plugin" {
		top = path.Dir(top)
	}
	name := path.Join(top, strings.ReplaceAll(in.Path, "${CLAUDE_PLUGIN_ROOT}", "."))
	if !fs.ValidPath(name) || path.IsAbs(in.Path) {
		w.fault(from, &config.Error{Path: from, Line: in.Line, Column: in.Column, What: "names a file out of the tree, which is not read"})
		return
	}
	info, err := w.root.Stat(name)
	if err != nil {
		w.fault(from, &config.Error{Path: from, Line: in.Line, Column: in.Column, What: "names a file that cannot be read"})
		return
	}
	if !info.IsDir() {
		w.configuration(name, place{client: p.client})
	}
}

// content reads a regular file within the tree. It waits for no pipe.
func (w *walker) content(name string) ([]byte, error) {
	info, err := w.root.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a regular file")
	}
	f, err := w.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !now.Mode().IsRegular() {
		return nil, errors.New("changed while it was opened")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("is larger than %d bytes and not read", MaxFile)
	}
	return data, err
}
