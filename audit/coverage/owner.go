package coverage

import (
	"bytes"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
)

// Owner says who wrote a function.
type Owner string

// The owners.
const (
	// Own is the package's.
	Own Owner = ""
	// Foreign is a dependency's, which was bundled.
	Foreign Owner = "dependency"
	// Unknown is in a bundle that does not say where its parts come from.
	Unknown Owner = "unknown"
)

// owner says whose the parts of a file are.
type owner struct {
	// sources leads to where they come from, nil for a bundle that does not say.
	sources *javascript.Map
	// packages are the dependencies that the sources belong to by their paths, "" for none and
	// undeclared for what nobody but the map says.
	packages map[string]string
}

// undeclared stands for a package that is no dependency: the map is the server's own word.
const undeclared = "?"

const (
	// bundleLine is the length of a file's lines, on average, from which on nobody wrote
	// them by hand, and bundleSize the size of a file from which on few do.
	bundleLine, bundleSize = 400, 512 << 10
	// maxMap bounds a source map in bytes.
	maxMap = 32 << 20
)

// own finds out whose the parts of a file of JavaScript are.
func (r *reader) own(p string, data []byte) {
	m, err := javascript.OpenMap(data, func(name string) ([]byte, error) {
		f, err := r.root.Open(path.Join(path.Dir(p), name))
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		return io.ReadAll(io.LimitReader(f, maxMap))
	})
	if err == nil {
		r.code.owners[p] = owner{sources: m}
		return
	}
	if len(data) > bundleSize || len(data) > 4<<10 && len(data)/(bytes.Count(data, []byte("\n"))+1) > bundleLine {
		r.code.owners[p] = owner{}
	}
}

// of returns the owner of what stands at a place of a file.
func (c *Code) of(file string, at lang.Pos) Owner {
	o, ok := c.owners[file]
	switch {
	case !ok:
		return Own
	case o.sources == nil:
		return Unknown
	}
	from, ok := o.sources.Original(at)
	if !ok {
		return Unknown
	}
	switch o.packages[from.File] {
	case "":
		return Own
	case undeclared:
		return Unknown
	}
	return Foreign
}

// maxInstalled bounds how often the reader asks whether a package is installed.
const maxInstalled = 20_000

// packages finds out which sources of the maps belong to dependencies: to packages that a
// manifest or a lockfile names, or that are installed beside the file.
func (r *reader) packages() {
	asked := map[string]bool{}
	for file, o := range r.code.owners {
		if o.sources == nil {
			continue
		}
		o.packages = map[string]string{}
		for _, source := range o.sources.Sources() {
			if !strings.Contains(source, "node_modules/") {
				continue
			}
			name := audit.NodePackage(source)
			o.packages[source] = undeclared
			if name != "" && (r.declared[name] || r.isInstalled(path.Dir(file), name, asked)) {
				o.packages[source] = name
			}
		}
		r.code.owners[file] = o
	}
}

// isInstalled reports whether a package lies in node_modules of a directory, or of one above.
func (r *reader) isInstalled(dir, name string, asked map[string]bool) bool {
	for {
		at := path.Join(dir, "node_modules", name, "package.json")
		is, known := asked[at]
		if !known && len(asked) < maxInstalled {
			info, err := r.root.Stat(at)
			is = err == nil && info.Mode().IsRegular()
			asked[at] = is
		}
		if is || dir == "." {
			return is
		}
		dir = path.Dir(dir)
	}
}

// isManifest reports whether a file names packages of npm that may be bundled.
func isManifest(p string) bool {
	return slices.Contains([]string{"package.json", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml"}, path.Base(p))
}
