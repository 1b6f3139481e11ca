package sinks

import "github.com/coalmine-dev/coalmine/audit/lang"

// throughTables are the ids of functions of tables by the name of the function that uses the table:
// who takes something out of STEPS = {"a": handler} may call the handler. A table is a list or a
// mapping of the module, in one assignment.
func (p *project) throughTables(s *source) map[string][]string {
	tables := p.tables(s)
	if len(tables) == 0 {
		return nil
	}
	out := map[string][]string{}
	lang.Walk(s.File, func(n lang.Node, in *lang.Scope) bool {
		name, ok := n.(lang.Name)
		if !ok || in == nil || len(tables[name.ID]) == 0 {
			return true
		}
		if owner := s.owner(in); owner != "" {
			out[owner] = append(out[owner], tables[name.ID]...)
		}
		return true
	})
	return out
}

// tables are the ids of the functions that each table of a source's module holds, by its name. A
// name that means a table in one place and something else in another is a table there too.
func (p *project) tables(s *source) map[string][]string {
	out := map[string][]string{}
	lang.Walk(s.File, func(n lang.Node, in *lang.Scope) bool {
		a, ok := n.(lang.Assign)
		if !ok || in != nil || len(a.Targets) != 1 {
			return true
		}
		name, isName := a.Targets[0].(lang.Name)
		table, isTable := a.Value.(lang.Collection)
		if isName && isTable {
			for _, item := range table.Items {
				out[name.ID] = append(out[name.ID], p.held(s, item.Value)...)
			}
		}
		return true
	})
	return out
}

// held are the ids of the functions that an item of a table is, or that a tuple or a mapping in it holds.
func (p *project) held(s *source, item lang.Expr) []string {
	var out []string
	if inner, ok := item.(lang.Collection); ok {
		for _, i := range inner.Items {
			if r := s.facts.ReferenceAt(place(i.Value)); r != nil {
				out = append(out, p.meant(s, r)...)
			}
		}
		return out
	}
	if r := s.facts.ReferenceAt(place(item)); r != nil {
		return p.meant(s, r)
	}
	return nil
}

// meant are the ids of the functions of the package that a reference is.
func (p *project) meant(s *source, r *lang.Reference) []string {
	var out []string
	for _, n := range r.Names {
		out = append(out, p.external(s, n)...)
	}
	for _, n := range r.Own {
		out = append(out, p.own(s, n)...)
	}
	return out
}

// place is where an expression stands, nowhere for none.
func place(x lang.Expr) lang.Span {
	if x == nil {
		return lang.Span{}
	}
	return x.Place()
}
