package config

import (
	"errors"

	"github.com/pelletier/go-toml/v2/unstable"
)

// readTOML reads the file expression by expression: what stands before a
// fault is kept.
func (p *parser) readTOML(data []byte) *node {
	root := &node{kind: object}
	table := root
	var t unstable.Parser
	t.Reset(data)
	for t.NextExpression() {
		e := t.Expression()
		switch e.Kind {
		case unstable.Table:
			table = descend(root, e.Key(), false)
		case unstable.ArrayTable:
			table = descend(root, e.Key(), true)
		case unstable.KeyValue:
			setTOML(table, e, 0)
		}
	}
	if err := t.Error(); err != nil {
		at := position{offset: len(data)}
		var fault *unstable.ParserError
		if errors.As(err, &fault) && len(fault.Highlight) > 0 {
			at.offset = int(t.Range(fault.Highlight).Offset)
		}
		p.fault(&at, "%v", err)
	}
	return root
}

// descend finds or makes the table of a dotted key; append adds one to an
// array of tables.
func descend(n *node, key unstable.Iterator, add bool) *node {
	for key.Next() {
		part := key.Node()
		last := key.IsLast()
		name := string(part.Data)
		next := n.index[name]
		if next == nil {
			next = &node{kind: object}
			if add && last {
				next.kind = array
			}
			n.put(name, int(part.Raw.Offset), next)
		}
		switch {
		case next.kind == array && add && last:
			next.items = append(next.items, &node{kind: object})
			next = next.items[len(next.items)-1]
		case next.kind == array && len(next.items) > 0:
			next = next.items[len(next.items)-1]
		}
		if next.kind != object {
			// A key that holds a value already: what is put here is lost.
			next = &node{kind: object}
		}
		n = next
	}
	return n
}

func (n *node) put(key string, offset int, v *node) {
	if n.index == nil {
		n.index = map[string]*node{}
	}
	n.index[key] = v
	v.pos = position{offset: offset}
	n.members = append(n.members, member{key, v.pos, v})
}

// setTOML puts a key and its value into a table.
func setTOML(table *node, kv *unstable.Node, depth int) {
	key := kv.Key()
	var names []string
	var offsets []int
	for key.Next() {
		names = append(names, string(key.Node().Data))
		offsets = append(offsets, int(key.Node().Raw.Offset))
	}
	last := len(names) - 1
	for i, name := range names[:last] {
		next := table.index[name]
		if next == nil || next.kind != object {
			next = &node{kind: object}
			table.put(name, offsets[i], next)
		}
		table = next
	}
	table.put(names[last], offsets[last], fromTOML(kv.Value(), depth+1))
}

func fromTOML(v *unstable.Node, depth int) *node {
	n := &node{pos: position{offset: int(v.Raw.Offset)}}
	if depth > maxDepth {
		return n
	}
	switch v.Kind {
	case unstable.String:
		n.kind, n.text = str, string(v.Data)
	case unstable.Array:
		n.kind = array
		for it := v.Children(); it.Next(); {
			n.items = append(n.items, fromTOML(it.Node(), depth+1))
		}
	case unstable.InlineTable:
		n.kind = object
		for it := v.Children(); it.Next(); {
			setTOML(n, it.Node(), depth)
		}
	default:
		n.kind, n.text = scalar, string(v.Data)
	}
	return n
}
