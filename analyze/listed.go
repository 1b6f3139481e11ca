package analyze

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// listings are the first listing of each list: the declarations of each name, sorted,
// since a name may stand there several times.
type listings [wire.Prompts + 1]map[string][]string

// entryOf are what an entry of each list is called.
var entryOf = [wire.Prompts + 1]string{wire.Tools: "tool", wire.Resources: "resource", wire.Templates: "template", wire.Prompts: "prompt"}

// entry is a declaration as two listings are compared in it.
type entry struct{ name, declares string }

// entriesOf lists what a listing declares. Of a resource its name and texts count: its
// size and date are content.
func entriesOf(l *wire.Listing) (out []entry) {
	for _, t := range l.Tools {
		out = append(out, entry{t.Name, string(wire.Canonical(t.Raw))})
	}
	for _, r := range l.Resources {
		out = append(out, entry{r.URI, r.Name + "\x00" + r.Title + "\x00" + r.Description + "\x00" + r.MIMEType})
	}
	for _, t := range l.Templates {
		out = append(out, entry{t.URITemplate, string(wire.Canonical(t.Raw))})
	}
	for _, p := range l.Prompts {
		out = append(out, entry{p.Name, string(wire.Canonical(p.Raw))})
	}
	return out
}

// compared notes the names that a whole listing has twice, and how it differs from the
// first of its list. Of tools with a name of their own, tools tells.
func (w *wireReader) compared(seq uint64, l *wire.Listing) {
	now, order := map[string][]string{}, []string{}
	for _, e := range entriesOf(l) {
		if now[e.name] == nil {
			order = append(order, e.name)
		}
		now[e.name] = append(now[e.name], e.declares)
	}
	for _, name := range order {
		slices.Sort(now[name])
		if all := now[name]; len(all) > 1 {
			w.duplicate(seq, entryOf[l.List], name, all[0] == all[len(all)-1], allowsMore(l.Tools, name))
		}
	}
	before := w.listed[l.List]
	if before == nil {
		w.listed[l.List] = now
		return
	}
	what := entryOf[l.List]
	if l.List == wire.Tools {
		what = ""
	}
	for _, name := range order {
		old := before[name]
		switch {
		case l.List == wire.Tools && len(old) < 2 && len(now[name]) < 2:
		case old == nil && l.List != wire.Resources && l.List != wire.Tools:
			w.changed(seq, what, wire.Change{Tool: name, Kind: wire.Appeared}, rules.Difference{})
		case old != nil && !slices.Equal(old, now[name]):
			w.changed(seq, what, wire.Change{Tool: name, Kind: wire.Redeclared}, rules.Difference{})
		}
	}
	if l.List != wire.Templates && l.List != wire.Prompts {
		return
	}
	var gone []string
	for name := range before {
		if now[name] == nil {
			gone = append(gone, name)
		}
	}
	slices.Sort(gone)
	for _, name := range gone {
		w.changed(seq, what, wire.Change{Tool: name, Kind: wire.Disappeared}, rules.Difference{})
	}
}

// duplicate notes a name that a listing has twice, once.
func (w *wireReader) duplicate(seq uint64, what, name string, alike, more bool) {
	for _, d := range w.facts.Duplicates {
		if d.What == what && d.Tool == name && d.Alike == alike {
			return
		}
	}
	if len(w.facts.Duplicates) < maxFacts {
		fact := w.fact(seq, "")
		fact.Tool = name
		w.facts.Duplicates = append(w.facts.Duplicates, rules.Duplicate{Fact: fact, What: what, Alike: alike, More: more})
	}
}

// allowsMore reports whether of the tools of one name one allows itself more than another.
func allowsMore(list []wire.Tool, name string) bool {
	var first *wire.Tool
	for i := range list {
		switch t := &list[i]; {
		case t.Name != name:
		case first == nil:
			first = t
		default:
			if rules.DifferenceOf(first, t).More != "" || rules.DifferenceOf(t, first).More != "" {
				return true
			}
		}
	}
	return false
}
