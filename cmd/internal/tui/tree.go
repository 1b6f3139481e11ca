package tui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds of what a tree shows at once.
const (
	// maxChildren is how many members are unfolded in one step.
	maxChildren = 1000
	// maxUnfolded are the nodes that are unfolded when a tree is opened.
	maxUnfolded = 200
	// maxScalar is how much of a value stands in its line, in bytes.
	maxScalar = 300
)

// node is one line of a tree: a value, or the rest of a long object or array.
type node struct {
	key   string // escaped
	raw   []byte
	depth int
	open  bool
	// rest is where, in raw, the children go on that a node stands for; 0 for a value.
	rest int
}

func (n *node) folds() bool {
	return n.rest > 0 || len(n.raw) > 2 && (n.raw[0] == '{' || n.raw[0] == '[')
}

// tree is JSON whose objects and arrays fold. Only what is unfolded is looked at.
type tree struct{ nodes []node }

// newTree unfolds the first levels of a value.
func newTree(raw json.RawMessage) *tree {
	t := &tree{nodes: []node{{raw: raw}}}
	for depth := range 4 {
		for i := 0; i < len(t.nodes); { // it grows meanwhile
			n := &t.nodes[i]
			if n.depth == depth && n.folds() && n.rest == 0 && len(t.nodes) < maxUnfolded && size(n.raw) <= maxUnfolded {
				t.toggle(i)
			}
			i++
		}
	}
	return t
}

// size counts the children of an object or array.
func size(raw []byte) int {
	n := 0
	if !wire.Walk(raw, func(_, _ []byte) { n++ }) {
		n = 0
		wire.WalkArray(raw, func(int, []byte) { n++ })
	}
	return n
}

// toggle folds or unfolds the node at a line.
func (t *tree) toggle(i int) {
	n := t.nodes[i]
	switch {
	case !n.folds():
	case n.rest > 0:
		t.nodes = slices.Replace(t.nodes, i, i+1, children(n.raw, n.depth, n.rest)...)
	case n.open:
		end := i + 1
		for end < len(t.nodes) && t.nodes[end].depth > n.depth {
			end++
		}
		t.nodes = slices.Delete(t.nodes, i+1, end)
		t.nodes[i].open = false
	default:
		t.nodes[i].open = true
		t.nodes = slices.Insert(t.nodes, i+1, children(n.raw, n.depth+1, 0)...)
	}
}

// children are the nodes of a value from one on, and one for the rest.
func children(raw []byte, depth, from int) []node {
	var out []node
	n := 0
	add := func(key string, value []byte) {
		if n >= from && n < from+maxChildren {
			out = append(out, node{key: key, raw: value, depth: depth})
		}
		n++
	}
	if raw[0] == '{' {
		wire.Walk(raw, func(k, v []byte) { add(clean(string(k), 100), v) })
	} else {
		wire.WalkArray(raw, func(i int, v []byte) { add(fmt.Sprintf("[%d]", i), v) })
	}
	if end := from + maxChildren; n > end {
		out = append(out, node{key: fmt.Sprintf("… %s more", thousands(n-end)), raw: raw, depth: depth, rest: end})
	}
	return out
}

// line is a node's line.
func (t *tree) line(th theme, i int) string {
	n := &t.nodes[i]
	fold := "  "
	if n.folds() {
		fold = "▸ "
		if n.open {
			fold = "▾ "
		}
	}
	out := strings.Repeat("  ", min(n.depth, 30)) + fold
	if n.rest > 0 {
		return out + th.dim(n.key)
	}
	if n.key != "" {
		out += th.accent(n.key) + ": "
	}
	return out + th.value(n)
}

// value is a scalar, or a summary of what is folded.
func (t theme) value(n *node) string {
	switch {
	case len(n.raw) == 0:
		return ""
	case n.raw[0] == '{' || n.raw[0] == '[':
		if n.open {
			return ""
		}
		last := map[byte]string{'{': "}", '[': "]"}[n.raw[0]]
		if len(n.raw) <= 2 {
			return string(n.raw[0]) + last
		}
		return t.dim(string(n.raw[0])+" "+clean(string(n.raw[1:min(len(n.raw), 80)]), 80)+" ") + t.dim(fmt.Sprintf("(%s)", bytesOf(len(n.raw))))
	case n.raw[0] == '"':
		text, cut := unquote(n.raw, maxScalar)
		out := t.good(`"` + clean(text, 2*maxScalar) + `"`)
		if cut {
			out += t.dim(fmt.Sprintf(" (%s, enter shows it)", bytesOf(len(n.raw))))
		}
		return out
	}
	return t.warn(clean(string(n.raw[:min(len(n.raw), maxScalar)]), maxScalar))
}

// unquote decodes the beginning of a JSON string, of about n bytes.
func unquote(raw []byte, n int) (text string, cut bool) {
	if len(raw) > n+2 {
		cut = true
		// A cut within an escape or a character is taken back, which twelve bytes are enough for.
		for back := range 12 {
			part := append(append([]byte(nil), raw[:n-back]...), '"')
			if json.Valid(part) && json.Unmarshal(part, &text) == nil {
				return text, cut
			}
		}
	}
	if json.Unmarshal(raw, &text) != nil {
		return string(raw[:min(len(raw), n)]), cut
	}
	return text, cut
}

func bytesOf(n int) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
