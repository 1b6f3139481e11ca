package schema

import (
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Choice is a property of the whole that is declared to take one of a few values.
type Choice struct {
	Name   string
	Values []any
}

// mostChoices is the most values that are few.
const mostChoices = 24

// Choices are the properties of the whole that take one of a few values, those with the most values first: by
// an enum, or by a description that lists them. They are told apart, and their combinations are what a tool of many
// actions does.
func (g *Generator) Choices() []Choice {
	g.mu.Lock()
	defer g.mu.Unlock()
	w := walker{g: g}
	sets, _ := g.properties()
	var out []Choice
	for _, name := range sortedKeys(sets) {
		if values := g.choiceOf(name, w.expand(sets[name], nil)); len(values) > 1 && len(values) <= mostChoices {
			out = append(out, Choice{name, values})
		}
	}
	slices.SortStableFunc(out, func(a, b Choice) int { return len(b.Values) - len(a.Values) })
	return out
}

func (g *Generator) choiceOf(name string, set []*jsonschema.Schema) (values []any) {
	types := allTypes
	for _, s := range set {
		types &= g.graph.types(s)
		if s.Enum != nil {
			return s.Enum.Values
		}
	}
	if types&tString == 0 {
		return nil
	}
	desc, _ := g.saidOf(name, set)
	for _, text := range listed(desc) {
		values = append(values, text)
	}
	return values
}
