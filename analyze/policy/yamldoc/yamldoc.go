package yamldoc

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// The bounds on a file, in bytes, entries and levels.
const (
	MaxFile   = 1 << 20
	MaxText   = 4 << 10
	maxErrors = 20
	maxDepth  = 32
)

// Position is a place in the file, counted from 1; the zero Position means no position.
type Position struct{ Line, Column int }

// Error is a fault at a place of the file.
type Error struct {
	File string
	At   Position
	What string
}

// Error implements error.
func (e *Error) Error() string {
	if e.At.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.What)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.At.Line, e.At.Column, e.What)
}

// Reader reads one file and collects its faults. It is not safe for concurrent use.
type Reader struct {
	// File is the name in the errors.
	File string
	errs []error
}

// Root parses a file. It is nil for an empty one, and where Err has a fault.
func (r *Reader) Root(data []byte) (root *yaml.Node) {
	defer func() {
		// A fault of the syntax library must not end a run.
		if f := recover(); f != nil {
			root = nil
			r.errs = append(r.errs, &Error{File: r.File, What: fmt.Sprintf("cannot be read: %v", f)})
		}
	}()
	if len(data) > MaxFile {
		r.errs = append(r.errs, &Error{File: r.File, What: fmt.Sprintf("is larger than %d bytes", MaxFile)})
		return nil
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		r.errs = append(r.errs, r.syntax(err))
		return nil
	}
	if doc.Kind == yaml.DocumentNode && len(doc.Content) > 0 && doc.Content[0].ShortTag() != "!!null" {
		return doc.Content[0]
	}
	return nil
}

func (r *Reader) syntax(err error) error {
	var fault *yaml.LoadError
	if !errors.As(err, &fault) {
		return &Error{File: r.File, What: "is not YAML"}
	}
	return &Error{File: r.File, At: Position{fault.Mark.Line, max(1, fault.Mark.Column)}, What: fault.Message}
}

// Err joins the faults, each an *Error, at most twenty. It is nil without one.
func (r *Reader) Err() error { return errors.Join(r.errs...) }

// Fault notes a fault at a node.
func (r *Reader) Fault(n *yaml.Node, format string, a ...any) { r.FaultAt(At(n), format, a...) }

// FaultAt notes a fault at a place.
func (r *Reader) FaultAt(at Position, format string, a ...any) {
	if len(r.errs) < maxErrors {
		r.errs = append(r.errs, &Error{r.File, at, fmt.Sprintf(format, a...)})
	}
}

// Faults counts the faults so far.
func (r *Reader) Faults() int { return len(r.errs) }

// At is the place of a node.
func At(n *yaml.Node) Position { return Position{n.Line, n.Column} }

// Members calls each with the members of a mapping; known, if not nil, are the
// only names that there may be.
func (r *Reader) Members(n *yaml.Node, what string, known []string, each func(key, value *yaml.Node)) {
	if n.ShortTag() == "!!null" && n.Kind == yaml.ScalarNode {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "%s must be a mapping", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.Kind != yaml.ScalarNode || key.ShortTag() == "!!merge":
			r.Fault(key, "%s: aliases and merges are not read here", what)
		case seen[key.Value]:
			r.Fault(key, "%s: %q appears here twice", what, Bounded(key.Value))
		case known != nil && !slices.Contains(known, key.Value):
			r.Fault(key, "%s: %q is not one of %s", what, Bounded(key.Value), strings.Join(known, ", "))
		default:
			seen[key.Value] = true
			each(key, n.Content[i+1])
		}
	}
}

// Text reads a scalar; anything else is a fault, and "".
func (r *Reader) Text(n *yaml.Node, what string) string {
	switch {
	case n.Kind == yaml.AliasNode:
		r.Fault(n, "%s: aliases and merges are not read here", what)
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		r.Fault(n, "%s must be a text", what)
	case n.Value == "":
		r.Fault(n, "%s is empty", what)
	case len(n.Value) > MaxText:
		r.Fault(n, "%s is longer than %d bytes", what, MaxText)
	default:
		return n.Value
	}
	return ""
}

// Plain reports whether a node is made of mappings, lists and scalars alone, at most 32
// deep. What is not, such as an alias or a tag of one's own, is a fault.
func (r *Reader) Plain(n *yaml.Node, what string) bool { return r.plain(n, what, 0) }

func (r *Reader) plain(n *yaml.Node, what string, depth int) bool {
	switch {
	case depth > maxDepth:
		r.Fault(n, "%s is nested deeper than %d", what, maxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		r.Fault(n, "%s: aliases and merges are not read here", what)
		return false
	case !slices.Contains([]string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp"}, n.ShortTag()):
		r.Fault(n, "%s: the tag %q is not read here", what, Bounded(n.ShortTag()))
		return false
	}
	ok := true
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Kind != yaml.ScalarNode {
			r.Fault(c, "%s: the name of a member must be a text", what)
			ok = false
			continue
		}
		ok = r.plain(c, what, depth+1) && ok
	}
	return ok
}

// Bounded is a word of the file in a message.
func Bounded(s string) string { return s[:min(len(s), 80)] }
