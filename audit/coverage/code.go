package coverage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Code is a package's own code. Nobody changes it after Read.
type Code struct {
	functions []sinks.Function
	handlers  []sinks.Handler
	// at is the place of a function in functions, by its id.
	at map[string]int
	// owners say of the files that are no plain sources whose their parts are.
	owners map[string]owner
	// branches are what may run or not of each file's functions.
	branches map[string][]branch
	// systems are the other operating systems that each file asks for.
	systems map[string][]string
	// skipped counts the files of a known language that were not read.
	skipped int
	// unread counts the functions of a compiled program that were not read.
	unread int
}

// Unread counts the functions of a compiled program that were too large or too many to be read, or
// had too long a name: nothing tells what they do.
func (c *Code) Unread() int { return c.unread }

// Bounds of a source: of one file in bytes, of all, and of their number.
const (
	maxFile  = 8 << 20
	maxBytes = 64 << 20
	maxFiles = 5_000
)

var languages = []lang.Language{python.Language{}, javascript.Language{}}

// Read reads the tree at root, except dependencies and the paths in skip. No link is
// followed. What is too large is counted, and is no error.
func Read(ctx context.Context, root *os.Root, skip ...string) (*Code, error) {
	r := reader{root: root, skip: skip, declared: map[string]bool{}, code: &Code{at: map[string]int{}, owners: map[string]owner{}, branches: map[string][]branch{}, systems: map[string][]string{}}}
	err := fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error { return r.visit(ctx, p, d, err) })
	if err != nil {
		return nil, fmt.Errorf("read the server's functions: %w", err)
	}
	r.packages()
	c := r.code
	c.functions, c.handlers = sinks.Both(r.files)
	for _, f := range r.files {
		c.branches[f.Path] = branchesOf(f)
	}
	for i := range c.functions {
		c.at[c.functions[i].ID()] = i
	}
	return c, nil
}

// reader is one reading under way.
type reader struct {
	root  *os.Root
	skip  []string
	code  *Code
	files []*lang.File
	bytes int64
	// declared are the packages of npm that manifests and lockfiles name.
	declared map[string]bool
}

func (r *reader) visit(ctx context.Context, p string, d fs.DirEntry, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return nil // an unreadable directory must not keep the others out
	case d.IsDir() && (p != "." && audit.Skipped(d.Name()) || slices.Contains(r.skip, p)):
		return fs.SkipDir
	case !d.Type().IsRegular():
		return nil
	}
	if isManifest(p) {
		if data, err := r.read(p); err == nil { // without it, what a map says of its packages is unknown
			for _, name := range audit.NPMDependencies(p, data) {
				r.declared[name] = true
			}
		}
		return nil
	}
	if ext := path.Ext(p); ext != "" && !slices.ContainsFunc(languages, func(l lang.Language) bool { return l.Owns(p, nil) }) {
		return nil
	}
	data, err := r.read(p)
	if err != nil {
		r.code.skipped++
		return nil
	}
	for _, l := range languages {
		if l.Owns(p, data[:min(len(data), 512)]) {
			r.files = append(r.files, l.Parse(p, data))
			r.code.systems[p] = systemsOf(data)
			if l.Name() == (javascript.Language{}).Name() {
				r.own(p, data)
			}
			break
		}
	}
	return nil
}

// read reads a file within the bounds.
func (r *reader) read(p string) ([]byte, error) {
	if len(r.files) >= maxFiles || r.bytes >= maxBytes {
		return nil, errors.New("too much")
	}
	f, err := r.root.Open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	limit := int64(maxFile)
	if path.Ext(p) == "" {
		head := make([]byte, 2)
		if n, err := f.ReadAt(head, 0); n < 2 || err != nil || string(head) != "#!" {
			return nil, nil
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil || int64(len(data)) > limit {
		return nil, errors.Join(err, errors.New("too large"))
	}
	r.bytes += int64(len(data))
	return data, nil
}
