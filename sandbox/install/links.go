package install

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// reserved reports whether an installation or a build writes at a name of a checkout:
// what stands there must be of its own making, never a link.
func reserved(name string) bool {
	return filepath.Base(name) == "node_modules" || slices.Contains([]string{binGo, ".venv", buildPlace, "vendor"}, name)
}

// A linker makes the symbolic links of a tree of others' making. It makes them after
// all directories and files, so that nothing is written through one, and leaves out
// each that could lead out of the tree.
type linker struct {
	root *os.Root
	// shown is the absolute path at which the tree's maker saw it, "" for none: an
	// absolute link to below that becomes a relative one.
	shown string
	links []link
	// dropped are the names of those that were left out, in order after finish.
	dropped []string
}

// A link is at a name below the tree's top and has a target, as readlink gives it.
type link struct{ name, target string }

// add takes in a link, to be made by finish. Its name is local and clean.
func (l *linker) add(name, target string) {
	if rel, ok := strings.CutPrefix(target, l.shown+"/"); ok && l.shown != "" {
		if inner, err := filepath.Rel(filepath.Dir(name), filepath.Clean(rel)); err == nil {
			target = inner
		}
	}
	if !local(name, target) {
		l.drop(name)
		return
	}
	l.links = append(l.links, link{name, target})
}

func (l *linker) drop(name string) { l.dropped = append(l.dropped, name) }

// local reports whether a link's target lies below the tree's top, whatever other
// links that hold to the same rule it leads through: it climbs only at its
// beginning, and no further than the link's own directory is deep.
func local(name, target string) bool {
	if target == "" || filepath.IsAbs(target) || len(target) > maxName || strings.ContainsRune(target, 0) {
		return false
	}
	climbing := true
	for _, part := range strings.Split(target, "/") {
		switch {
		case part == "" || part == ".":
		case part != "..":
			climbing = false
		case !climbing:
			return false
		}
	}
	return filepath.IsLocal(filepath.Join(filepath.Dir(name), target))
}

// finish makes the links. It leaves out those whose chain of links does not end,
// and fails where a link and a file have one name.
func (l *linker) finish() error {
	for _, name := range l.dropped {
		if _, err := l.root.Lstat(name); err == nil {
			return fmt.Errorf("%q is a link and a file", name)
		}
	}
	for _, k := range l.links {
		// A directory in between may stand in the archive as a link alone.
		if err := l.root.MkdirAll(filepath.Dir(k.name), 0o755); err != nil {
			return err
		}
		if !directory(l.root, filepath.Dir(k.name)) {
			return fmt.Errorf("%q lies below a link", k.name)
		}
		if err := l.root.Symlink(k.target, k.name); err != nil {
			return err
		}
	}
	for _, k := range l.links {
		if _, err := l.root.Stat(k.name); err == nil || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := l.root.Remove(k.name); err != nil {
			return err
		}
		l.drop(k.name)
	}
	slices.Sort(l.dropped)
	return nil
}

// directory reports whether a name below a root is a directory by way of directories alone.
func directory(root *os.Root, name string) bool {
	for ; name != "."; name = filepath.Dir(name) {
		if info, err := root.Lstat(name); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}
