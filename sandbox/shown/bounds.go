package shown

import "slices"

// Bounds are where on the host a command leads that is not the user's own: that of a
// repository's configuration, or a package's. The zero value has no bound.
type Bounds struct {
	// Top is the directory, without links, below which the command may name files.
	Top string
	// Also are paths, without links, that the user adds.
	Also []string
}

// Allow reports whether a command may show a path, which has no links in it.
func (b Bounds) Allow(path string) bool {
	return b.Top == "" || Within(path, b.Top) || slices.ContainsFunc(b.Also, func(dir string) bool { return Within(path, dir) })
}
