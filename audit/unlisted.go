package audit

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// ToolUnlisted is the rule for a tool that is answered and listed nowhere.
const ToolUnlisted = "tool-unlisted"

// maxCompared bounds the names that the handlers of a package compare with.
const maxCompared = 500

// compared is a name that a handler of all tools compares with.
type compared struct {
	file string
	at   lang.Span
	// times is how often the package compares with it, and stands how often it stands there at all.
	times, stands int
}

// unlisted reports the names that a handler of all tools compares with, and that stand nowhere
// else in the package: no list can hold them. Where most names do, the lists are made elsewhere.
func (a *auditor) unlisted(pkg *sinks.Package, at *places) {
	list := map[string]*compared{}
	seen := map[*lang.Function]bool{}
	for _, h := range pkg.Handlers() {
		if h.Kind != "tool" || h.Name != "" {
			continue
		}
		for _, id := range h.Functions {
			if b, ok := pkg.Body(id); ok && !seen[b.Function] {
				seen[b.Function] = true
				compares(b, list)
			}
		}
	}
	if len(list) < 2 {
		return
	}
	for _, f := range a.trees {
		lang.Walk(f, func(n lang.Node, _ *lang.Scope) bool {
			if k, ok := n.(lang.Const); ok && k.Kind == lang.String && list[k.Text] != nil {
				list[k.Text].stands++
			}
			return true
		})
	}
	var names []string
	for name, c := range list {
		if c.stands <= c.times {
			names = append(names, name)
		}
	}
	if 2*len(names) > len(list) {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		c := list[name]
		a.add(ToolUnlisted, finding.Medium, c.file, at.source(c.file), c.at.Start.Offset(), "a tool is answered that is listed nowhere: "+shown(name), name)
	}
}

// compares notes the constants with which a function compares the name of a tool.
func compares(b sinks.Body, list map[string]*compared) {
	note := func(x lang.Expr) {
		k, ok := x.(lang.Const)
		if !ok || k.Kind != lang.String || k.Text == "" || strings.Contains(k.Text, "/") || len(list) >= maxCompared {
			return
		}
		if list[k.Text] == nil {
			list[k.Text] = &compared{file: b.File.Path, at: k.Span}
		}
		list[k.Text].times++
	}
	lang.WalkExpr(b.Function, b.In, func(n lang.Node, _ *lang.Scope) bool {
		switch n := n.(type) {
		case lang.Operation:
			if (n.Op == "==" || n.Op == "===") && slices.ContainsFunc(n.Operands, isToolName) {
				for _, o := range n.Operands {
					note(o)
				}
			}
		case lang.Switch:
			if isToolName(n.Subject) {
				for _, c := range n.Cases {
					for _, p := range c.Patterns {
						note(p)
					}
				}
			}
		}
		return true
	})
}

// isToolName reports whether an expression is the name of the tool that is called.
func isToolName(x lang.Expr) bool {
	switch x := x.(type) {
	case lang.Name:
		return x.ID == "name" || x.ID == "tool" || x.ID == "tool_name" || x.ID == "toolName"
	case lang.Attr:
		return x.Name == "name" || x.Name == "toolName"
	case lang.Index:
		k, ok := lang.Const{}, false
		if len(x.Keys) == 1 {
			k, ok = x.Keys[0].(lang.Const)
		}
		return ok && k.Text == "name"
	}
	return false
}
