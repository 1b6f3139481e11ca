package config

import (
	"fmt"
	"sort"
	"unicode/utf8"
)

// node is a value of a configuration, whatever its syntax.
type node struct {
	kind kind
	// text is a scalar's value.
	text string
	// members are an object's, in the file's order and with its repetitions.
	members []member
	items   []*node
	pos     position
	// index finds the members of a table that is written in several places.
	index map[string]*node
}

type kind int

const (
	other  kind = iota // null, or what was too deep to read
	scalar             // a number, a boolean, a date
	str
	object
	array
)

type member struct {
	key   string
	pos   position
	value *node
}

// position is an offset, or the line and column where the syntax has them.
type position struct{ offset, line, column int }

// get returns the last member of a name, which is the one that counts.
func (n *node) get(key string) *node {
	if n == nil || n.kind != object {
		return nil
	}
	for i := len(n.members) - 1; i >= 0; i-- {
		if n.members[i].key == key {
			return n.members[i].value
		}
	}
	return nil
}

// first returns the value of the first of keys that is there.
func (n *node) first(keys ...string) (*node, string) {
	for _, k := range keys {
		if v := n.get(k); v != nil && v.kind != other {
			return v, k
		}
	}
	return nil, ""
}

// parser gathers what one file holds.
type parser struct {
	path     string
	text     []byte
	lines    []int
	last     position
	root     *node
	servers  []Server
	hooks    []Hook
	includes []Include
	inputs   map[string]Input
	// tooMany says that there are more servers than are read.
	tooMany bool
	found   []error
	more    int
	budget  int
}

// fault records an error at a place, nil for the file as a whole.
func (p *parser) fault(at *position, format string, args ...any) {
	if len(p.found) >= maxErrors {
		p.more++
		return
	}
	e := &Error{Path: p.path, What: fmt.Sprintf(format, args...)}
	if at != nil {
		e.Line, e.Column = p.place(*at)
	}
	p.found = append(p.found, e)
}

func (p *parser) errs() []error {
	if p.more > 0 {
		return append(p.found, &Error{Path: p.path, What: fmt.Sprintf("and %d more errors", p.more)})
	}
	return p.found
}

// at is place as a value.
func (p *parser) at(pos position) Position {
	line, column := p.place(pos)
	return Position{Line: line, Column: column}
}

// place turns a position into a line and a column in characters.
func (p *parser) place(at position) (line, column int) {
	if at.line > 0 {
		return at.line, at.column
	}
	if p.lines == nil {
		p.lines = []int{0}
		for i, b := range p.text {
			if b == '\n' {
				p.lines = append(p.lines, i+1)
			}
		}
	}
	offset := min(at.offset, len(p.text))
	line = sort.SearchInts(p.lines, offset+1)
	return line, p.column(line, offset)
}

// column counts characters from the last place that was asked for: a file of one line has
// all its places in it.
func (p *parser) column(line, offset int) int {
	last := &p.last
	switch {
	case last.line != line:
		last.column = utf8.RuneCount(p.text[p.lines[line-1]:offset]) + 1
	case offset >= last.offset:
		last.column += utf8.RuneCount(p.text[last.offset:offset])
	default:
		last.column -= utf8.RuneCount(p.text[offset:last.offset])
	}
	last.line, last.offset = line, offset
	return last.column
}
