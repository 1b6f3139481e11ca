package shown

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
)

// The bounds of a search. A directory that goes beyond one of them is not shown.
const (
	maxEntries = 500_000
	maxBytes   = 4 << 30
	patience   = 2 * time.Minute
	// maxMasked bounds the content of a file that is shown without its secrets: a longer
	// one is shown empty. maxCovered bounds all of them together.
	maxMasked  = 16 << 20
	maxCovered = 128 << 20
)

// View is what a server sees of a directory, or of one file, of the host.
type View struct {
	// Real is the host's path without links.
	Real string
	// Hidden are paths below it, with slashes, that are not shown, nor anything below
	// them: Untracked ones, histories of version control, sockets and devices, and what
	// this user may not read.
	Hidden []string
	// Untracked are those that git does not track.
	Untracked []string
	// Covers are files whose content is not shown as it is, sorted by path.
	Covers []Cover
	// Sums are the digests of the files that were read whole, by their paths.
	Sums map[string]secrets.Sum
}

// Cover is a file below a View's directory that is shown with another content.
type Cover struct {
	// Path has slashes; "." is the one file of a View.
	Path string
	// Data is the content without its secrets, nil for none of it.
	Data []byte
	// Mode are the file's permissions.
	Mode fs.FileMode
}

// Request says of what a View is made.
type Request struct {
	// Dir is the host's directory or file.
	Dir string
	// Index is what git tracks of the working tree around it; nil shows all.
	Index *Index
	// Show are absolute paths without links that are shown though git does not track them.
	Show []string
	// Code is the absolute path, without links, of what the server's command runs, "" for unknown.
	Code string
	// Skip are paths below Dir, with slashes, that another hides.
	Skip []string
	// Histories shows what version control keeps, too.
	Histories bool
	// Clean remembers what needs no search; nil remembers nothing.
	Clean *Clean
}

// libraries are directories that git ignores and that tools fill with what a server needs to run.
var libraries = []string{
	"node_modules", "vendor", "deps", "site-packages", "__pycache__", ".yarn", ".next", ".nuxt", ".output", ".svelte-kit",
}

// libraryFiles are files of the same kind.
var libraryFiles = []string{".pnp.cjs", ".pnp.loader.mjs"}

// products are directories that a build makes. People keep other things under these names
// too: one is shown if the server is run from it.
var products = []string{"dist", "build", "out", "lib", "esm", "cjs", "target", "bin", "obj", "publish", "pkg", "_build"}

// histories are where version control keeps what was there before, packed, with
// settings that hold tokens.
var histories = []string{".git", ".hg", ".svn", ".jj", ".bzr"}

// installed are directories of what was published by others.
var installed = []string{"node_modules", "site-packages", "dist-packages", "__pycache__", ".yarn"}

// Look reads a directory to its end and finds what of it may be shown. Its
// errors say why the directory cannot be.
func Look(ctx context.Context, r Request) (*View, error) {
	real, err := filepath.EvalSymlinks(r.Dir)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("searching it for secrets takes longer than %s", patience))
	defer cancel()
	info, err := os.Stat(real)
	if err != nil {
		return nil, err
	}
	top := real
	if !info.IsDir() {
		top = filepath.Dir(real)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	l := &looker{request: r, top: real, root: root, ctx: ctx, view: &View{Real: real, Sums: map[string]secrets.Sum{}}, covers: map[string]Cover{}}
	if !info.IsDir() {
		l.files = []string{filepath.Base(real)}
	} else if err := fs.WalkDir(root.FS(), ".", l.visit); err != nil {
		return nil, err
	}
	if err := l.read(); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(l.covers)) {
		c := l.covers[name]
		if !info.IsDir() {
			c.Path = "."
		}
		l.view.Covers = append(l.view.Covers, c)
	}
	return l.view, nil
}

// looker makes one View.
type looker struct {
	request Request
	top     string
	root    *os.Root
	ctx     context.Context
	view    *View
	entries int
	files   []string // to be read
	// open is the untracked directory that is shown whole, "" outside of one.
	open string

	mu             sync.Mutex
	bytes, covered int64
	covers         map[string]Cover
	// directories says which directories hold credentials, of those that were asked for.
	directories map[string]bool
}

func (l *looker) hide(name string, e fs.DirEntry) error {
	l.view.Hidden = append(l.view.Hidden, name)
	if e != nil && e.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// visit takes one entry of the walk.
func (l *looker) visit(name string, e fs.DirEntry, err error) error {
	if err != nil {
		if name != "." && (errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist)) {
			return l.hide(name, e) // as its owner, the server could make it readable
		}
		return err
	}
	if l.entries++; l.entries > maxEntries {
		return fmt.Errorf("it has more than %d files", maxEntries)
	}
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	if name == "." {
		return nil
	}
	if slices.Contains(l.request.Skip, name) {
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	}
	if !l.request.Histories && slices.Contains(histories, e.Name()) {
		return l.hide(name, e)
	}
	if !l.known(name, e) {
		l.view.Untracked = append(l.view.Untracked, name)
		return l.hide(name, e)
	}
	switch {
	case e.IsDir():
	case e.Type().IsRegular():
		l.files = append(l.files, name)
	case e.Type() == fs.ModeSymlink:
		l.link(name)
	default:
		return l.hide(name, e)
	}
	return nil
}

// known reports whether an entry is shown as far as git goes.
func (l *looker) known(name string, e fs.DirEntry) bool {
	x := l.request.Index
	if x == nil || l.open != "" && strings.HasPrefix(name, l.open+"/") {
		return true
	}
	abs := filepath.Join(l.top, name)
	rel, err := filepath.Rel(x.top, abs)
	if err == nil && x.Tracks(filepath.ToSlash(rel)) {
		return true
	}
	if e.IsDir() && l.isProduct(name, e.Name()) {
		l.open = name
		return true
	}
	for _, s := range l.request.Show {
		if Within(abs, s) {
			return true
		}
		if e.IsDir() && Within(s, abs) {
			return true // on the way to it
		}
	}
	return !e.IsDir() && slices.Contains(libraryFiles, e.Name())
}

// isProduct reports whether an untracked directory holds what the server is run with.
func (l *looker) isProduct(name, base string) bool {
	return slices.Contains(libraries, base) || slices.Contains(products, base) && l.runs(name) ||
		strings.HasSuffix(base, ".egg-info") || l.exists(path.Join(name, "pyvenv.cfg"))
}

func (l *looker) exists(name string) bool {
	_, err := l.root.Lstat(name)
	return err == nil
}

// Within reports whether a clean path is dir or lies below it. No link counts.
func Within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// link covers a link of a credential's name, and what it leads to in the tree under
// another name.
func (l *looker) link(name string) {
	if !l.credential(name) {
		return
	}
	l.cover(name, nil, emptied)
	if target := l.follow(name); target != "" {
		if st, err := l.root.Lstat(target); err == nil && st.Mode().IsRegular() {
			l.cover(filepath.ToSlash(target), nil, emptied)
		}
	}
}

// maxLinks bounds the links on the way to a file, as Linux does.
const maxLinks = 40

// follow is where a path leads below the tree's top, "" where that is outside or
// nothing. It looks at nothing outside.
func (l *looker) follow(name string) string {
	done, todo := ".", strings.Split(name, "/")
	for links := 0; len(todo) > 0 && links < maxLinks; {
		next := filepath.Join(done, todo[0])
		todo = todo[1:]
		if !filepath.IsLocal(next) {
			return ""
		}
		info, err := l.root.Lstat(next)
		if err != nil {
			return ""
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			done = next
			continue
		}
		links++
		target, err := l.root.Readlink(next)
		if err != nil {
			return ""
		}
		if filepath.IsAbs(target) {
			// An absolute link may name the tree itself.
			rel, err := filepath.Rel(l.top, target)
			if err != nil || !filepath.IsLocal(rel) {
				return ""
			}
			done, target = ".", rel
		}
		todo = append(strings.Split(target, "/"), todo...)
	}
	if len(todo) > 0 {
		return ""
	}
	return done
}

// credential reports whether a path is a credential's by its name, or by that of a
// directory around it.
func (l *looker) credential(name string) bool {
	abs := filepath.ToSlash(filepath.Join(l.top, name))
	if secrets.Named(abs) {
		return true
	}
	return l.inCredentials(path.Dir(name))
}

// inCredentials reports whether a directory is one of credentials, or is below one.
func (l *looker) inCredentials(dir string) bool {
	if dir == "." {
		return false
	}
	l.mu.Lock()
	known, ok := l.directories[dir]
	l.mu.Unlock()
	if ok {
		return known
	}
	known = secrets.Directory(dir) || l.inCredentials(path.Dir(dir))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.directories == nil {
		l.directories = map[string]bool{}
	}
	l.directories[dir] = known
	return known
}

// emptied are the permissions of a file that is shown empty.
const emptied fs.FileMode = 0o600

func (l *looker) cover(name string, data []byte, mode fs.FileMode) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, there := l.covers[name]; there && old.Data == nil {
		return
	}
	if l.covered += int64(len(data)); l.covered > maxCovered {
		data = nil
	}
	l.covers[name] = Cover{Path: name, Data: data, Mode: mode}
}
