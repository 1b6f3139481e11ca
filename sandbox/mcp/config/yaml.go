package config

import (
	"errors"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// maxNodes bounds what a YAML file may grow to by its aliases.
const maxNodes = 200_000

// readYAML reads the first document.
func (p *parser) readYAML(data []byte) *node {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		p.syntaxYAML(err)
		return nil
	}
	p.budget = maxNodes
	n := p.fromYAML(&doc, 0)
	if p.budget < 0 {
		p.fault(nil, "grows to more than %d values by its aliases", maxNodes)
	}
	return n
}

// named is a word of the file's in a syntax error, which may be a key.
var named = regexp.MustCompile(`'[^']{4,}'`)

// syntaxYAML records a syntax error at its line.
func (p *parser) syntaxYAML(err error) {
	var fault *yaml.LoadError
	if !errors.As(err, &fault) {
		p.fault(nil, "is not YAML")
		return
	}
	var at *position
	if fault.Mark.Line > 0 {
		at = &position{line: fault.Mark.Line, column: max(1, fault.Mark.Column)}
	}
	p.fault(at, "%s", named.ReplaceAllString(fault.Message, "(a name)"))
}

func (p *parser) fromYAML(y *yaml.Node, depth int) *node {
	n := &node{pos: position{line: y.Line, column: y.Column}}
	if p.budget--; p.budget < 0 || depth > maxDepth {
		return n
	}
	switch y.Kind {
	case yaml.DocumentNode:
		if len(y.Content) > 0 {
			return p.fromYAML(y.Content[0], depth+1)
		}
	case yaml.AliasNode:
		if y.Alias != nil {
			return p.fromYAML(y.Alias, depth+1)
		}
	case yaml.SequenceNode:
		n.kind = array
		for _, e := range y.Content {
			n.items = append(n.items, p.fromYAML(e, depth+1))
		}
	case yaml.MappingNode:
		n.kind = object
		n.members = p.membersOfYAML(y, depth)
	case yaml.ScalarNode:
		switch y.ShortTag() {
		case "!!null":
			return n
		case "!!str":
			n.kind = str
		default:
			n.kind = scalar
		}
		n.text = y.Value
	}
	return n
}

// rootDepth is the depth of the mapping in a document.
const rootDepth = 1

// membersOfYAML reads a mapping. Its own members win over those that are
// merged into it. Of the file's own keys only those are read that lead to
// servers, so that no other can use up the bound on aliases.
func (p *parser) membersOfYAML(y *yaml.Node, depth int) []member {
	var merged, own []member
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if depth == rootDepth && !leads(key.Value) && key.ShortTag() != "!!merge" {
			continue
		}
		value := p.fromYAML(y.Content[i+1], depth+1)
		if key.ShortTag() != "!!merge" {
			own = append(own, member{key.Value, position{line: key.Line, column: key.Column}, value})
			continue
		}
		merged = append(merged, value.members...)
		for j := len(value.items) - 1; j >= 0; j-- {
			merged = append(merged, value.items[j].members...)
		}
	}
	merged = slices.DeleteFunc(merged, func(m member) bool {
		return slices.ContainsFunc(own, func(o member) bool { return o.key == m.key })
	})
	return append(merged, own...)
}
