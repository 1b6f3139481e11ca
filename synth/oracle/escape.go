package oracle

import (
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// escapes are the contexts of the inputs that lead out of a directory that was allowed.
var escapes = []string{"dot-dot", "link", "sibling of the same prefix", "dot-dot below the root", "relative link"}

// Escapes are inputs for an argument of a meaning that lead out of what a call has just allowed:
// the directory of World.Link, or a host.
func Escapes(w *World, m Meaning, token func(int) string) []Input {
	var out []Input
	switch m {
	case Path:
		const suffix = ".txt"
		in := Input{Text: path.Base(w.Link) + suffix, Injection: session.Injection{Oracle: session.OraclePath, Context: "link in an allowed directory", Path: w.Linked.Stem, Value: w.Linked.Value}}
		out = append(out, in)
		for k, i := range orders[m] {
			if v := variants[i]; v.oracle == session.OraclePath && slices.Contains(escapes, v.context) {
				out = append(out, At(w, m, k, token(k)))
			}
		}
	case Address:
		for k, i := range orders[m] {
			if v := variants[i]; v.oracle == session.OracleFetch && len(out) < len(escapes) {
				out = append(out, At(w, m, k, token(k)))
			}
		}
	}
	return out
}
