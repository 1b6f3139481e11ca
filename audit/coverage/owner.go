package coverage

import (
	"bytes"
	"io"
	"path"
	"strings"

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
}

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
	switch {
	case !ok:
		return Unknown
	case strings.Contains(from.File, "node_modules/"):
		return Foreign
	}
	return Own
}
