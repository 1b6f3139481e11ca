package detect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// check is a compiled schema. Most schemas of tools say types, properties and
// enumerations: those are read from the value's bytes. What a schema says
// beyond that is the validator's, which is asked only where it is needed.
type check struct {
	raw       json.RawMessage
	root      *node
	needsFull bool
	lazy      lazySchema
	walk      walker
}

// node is what is read of one schema.
type node struct {
	types      []string
	properties map[string]*node
	required   []string
	closed     bool // additionalProperties is false
	enum       [][]byte
	items      *node
}

// maxNesting bounds how deep a schema is read.
const maxNesting = 64

// known are the keywords that node holds, or that assert nothing.
var known = map[string]bool{
	"type": true, "properties": true, "required": true, "enum": true, "items": true, "additionalProperties": true,
	"title": true, "description": true, "default": true, "examples": true, "$schema": true, "$id": true, "$comment": true, "format": true,
	"deprecated": true, "readOnly": true, "writeOnly": true, "$defs": true, "definitions": true, "contentMediaType": true, "contentEncoding": true,
}

// compile reads a schema; one that cannot be read checks nothing.
func compile(raw json.RawMessage) *check {
	k := &check{raw: raw}
	if len(raw) == 0 || raw[0] != '{' {
		return k
	}
	k.root = k.node(raw, 0)
	return k
}

func (k *check) node(raw json.RawMessage, depth int) *node {
	n := &node{}
	if depth > maxNesting || len(raw) == 0 || raw[0] != '{' {
		// true and false, and what is no schema, are the validator's.
		k.needsFull = k.needsFull || string(raw) != "true"
		return n
	}
	wire.Walk(raw, func(key, value []byte) {
		switch string(key) {
		case "type":
			n.types = texts(value)
		case "required":
			n.required = texts(value)
		case "additionalProperties":
			n.closed = string(value) == "false"
			k.needsFull = k.needsFull || value[0] == '{' && string(value) != "{}"
		case "properties":
			n.properties = map[string]*node{}
			wire.Walk(value, func(key, value []byte) { n.properties[string(key)] = k.node(value, depth+1) })
		case "items":
			n.items = k.node(value, depth+1)
		case "enum":
			wire.WalkArray(value, func(_ int, v []byte) { n.enum = append(n.enum, wire.Canonical(v)) })
		default:
			k.needsFull = k.needsFull || !known[string(key)]
		}
	})
	return n
}

// texts reads a string, or the strings of an array.
func texts(v []byte) (out []string) {
	if s, ok := wire.Text(v); ok {
		return []string{s}
	}
	wire.WalkArray(v, func(_ int, e []byte) {
		if s, ok := wire.Text(e); ok {
			out = append(out, s)
		}
	})
	return out
}

// walker compares one value with a schema. It never quotes a value.
type walker struct {
	what     string
	problems []problem
	// path leads to the value under way: keys, and indices behind a nil.
	path []step
}

// problem is one difference between a value and a schema.
type problem struct {
	// says is for a reader: "/n must be an integer, got a string".
	says string
	// identity is what fingerprints hash. Its words never change.
	identity string
}

// tell notes one difference.
func (w *walker) tell(identity, says string) {
	if len(w.problems) < maxProblems {
		w.problems = append(w.problems, problem{says, identity})
	}
}

// step is one step of a path.
type step struct {
	key   []byte
	index int
}

// value compares the value at the path with a schema.
func (w *walker) value(n *node, v json.RawMessage) {
	if len(n.types) > 0 && !isOneOf(v, n.types) {
		w.tell(fmt.Sprintf("%s is %s, and the schema wants %s", w.place(nil), typeOf(v), list(n.types)),
			fmt.Sprintf("%s must be %s, got %s", w.pointer(nil), anyOf(n.types), typeOf(v)))
		return
	}
	if n.enum != nil && !n.listed(v) {
		w.tell(fmt.Sprintf("%s is not one of the %d values that the schema lists", w.place(nil), len(n.enum)),
			fmt.Sprintf("%s must be one of the %d values in the schema", w.pointer(nil), len(n.enum)))
	}
	switch {
	case v[0] == '{' && (n.properties != nil || n.required != nil || n.closed):
		w.object(n, v)
	case v[0] == '[' && n.items != nil:
		wire.WalkArray(v, func(i int, e []byte) {
			if i < maxItems {
				w.below(n.items, e, step{index: i})
			}
		})
	}
}

// maxItems bounds the items of an array that are looked at.
const maxItems = 10_000

// below compares a value one step further down.
func (w *walker) below(n *node, v json.RawMessage, s step) {
	w.path = append(w.path, s)
	w.value(n, v)
	w.path = w.path[:len(w.path)-1]
}

func (w *walker) object(n *node, v json.RawMessage) {
	var seen uint64 // the required names that are there
	wire.Walk(v, func(key, value []byte) {
		for i, r := range n.required {
			if i < 64 && r == string(key) {
				seen |= 1 << i
			}
		}
		p := n.properties[string(key)]
		if p == nil {
			if n.closed {
				w.tell(fmt.Sprintf("%s is not declared, and the schema allows no other", w.place(key)), w.pointer(key)+" is not a declared property")
			}
			return
		}
		w.below(p, value, step{key: key})
	})
	for i, r := range n.required {
		if i < 64 && seen&(1<<i) == 0 {
			w.tell(fmt.Sprintf("the required %s is missing", w.place([]byte(r))), w.pointer([]byte(r))+" is required, but missing")
		}
	}
}

// pointer is the place of the value at the path, or of the member of it with that key:
// "/items/0/name".
func (w *walker) pointer(key []byte) string {
	var b strings.Builder
	for _, s := range w.path {
		b.WriteByte('/')
		if s.key == nil {
			b.WriteString(strconv.Itoa(s.index))
		}
		b.Write(s.key)
	}
	if key != nil || b.Len() == 0 {
		b.WriteByte('/')
		b.Write(key)
	}
	return name(b.String())
}

// place names the value at the path, or the member of it with that key.
func (w *walker) place(key []byte) string {
	var b strings.Builder
	steps := w.path
	if key != nil {
		steps = append(slices.Clone(steps), step{key: key})
	}
	for i, s := range steps {
		switch {
		case s.key == nil:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case i > 0:
			b.WriteByte('.')
			fallthrough
		default:
			b.Write(s.key)
		}
	}
	return at(w.what, b.String())
}

// at names a place within arguments or a value.
func at(what, path string) string {
	if path == "" {
		return "the whole " + what
	}
	return what + " " + quoted(path)
}

// listed reports whether an enumeration holds the value.
func (n *node) listed(v json.RawMessage) bool {
	for _, e := range n.enum {
		if bytes.Equal(e, v) {
			return true
		}
	}
	c := wire.Canonical(v)
	for _, e := range n.enum {
		if bytes.Equal(e, c) {
			return true
		}
	}
	return false
}

func isOneOf(v json.RawMessage, types []string) bool {
	for _, t := range types {
		if isType(v, t) {
			return true
		}
	}
	return false
}

// isType compares with a type's name. A name that no draft knows asks for nothing.
func isType(v json.RawMessage, t string) bool {
	switch t {
	case "string":
		return v[0] == '"'
	case "object":
		return v[0] == '{'
	case "array":
		return v[0] == '['
	case "boolean":
		return v[0] == 't' || v[0] == 'f'
	case "null":
		return v[0] == 'n'
	case "number":
		return isNumber(v)
	case "integer":
		return isNumber(v) && isWhole(v)
	}
	return true
}

func isNumber(v []byte) bool { return v[0] == '-' || v[0] >= '0' && v[0] <= '9' }

// isWhole takes 1.0 and 1e2 for whole numbers, as JSON Schema does since draft 6.
func isWhole(v []byte) bool {
	if bytes.IndexByte(v, '.') < 0 && bytes.IndexByte(v, 'e') < 0 && bytes.IndexByte(v, 'E') < 0 {
		return true
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == float64(int64(f))
}

func typeOf(v []byte) string {
	for _, t := range []string{"string", "object", "array", "boolean", "null", "number"} {
		if isType(v, t) {
			if t == "array" || t == "object" {
				return "an " + t
			}
			if t == "null" {
				return t
			}
			return "a " + t
		}
	}
	return "nothing"
}

func list(types []string) string {
	out := ""
	for i, t := range types {
		if i > 0 {
			out += " or "
		}
		out += name(t)
	}
	return out
}

// anyOf names types in a sentence: "a string or an integer".
func anyOf(types []string) string {
	out := make([]string, len(types))
	for i, t := range types {
		switch t {
		case "null":
			out[i] = t
		case "array", "integer", "object":
			out[i] = "an " + t
		default:
			out[i] = "a " + name(t)
		}
	}
	return strings.Join(out, " or ")
}
