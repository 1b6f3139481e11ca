package synth

import (
	"encoding/json"
	"slices"
	"sort"
	"time"
)

// What is taken into the dictionary of the declarations.
const (
	maxDeclared      = 2_000
	maxDeclaredDepth = 8
)

const (
	// likely is how many of the source's literals are worth calls of their own:
	// those that it compares with come first.
	likely = 48
	// maxVain is how many of them in a row may hold none that is new.
	maxVain = 2
	// sourceTime bounds those calls.
	sourceTime = 10 * time.Second
)

// dictionary prepares what is known before the first call: of the literals in
// the server's source those that lead nowhere else, and what its declarations
// name for one argument, which may fit another of that name.
func (d *driver) dictionary() {
	l := &d.cfg.Hints.Literals
	l.Texts = slices.DeleteFunc(slices.Clone(l.Texts), func(s string) bool { return !d.harmless(s) })
	taker := learner{d: d, left: maxDeclared}
	for _, t := range d.cfg.Surface.Tools[:min(len(d.cfg.Surface.Tools), maxTools)] {
		var doc any
		if len(t.InputSchema) <= maxResultText && json.Unmarshal(t.InputSchema, &doc) == nil {
			taker.declared("", doc, 0)
		}
	}
	for _, r := range d.cfg.Surface.Resources[:min(len(d.cfg.Surface.Resources), maxResources)] {
		taker.add("uri", r.URI)
	}
}

// trySource calls the tools that answer again, in turns and as often as they
// were called already, while there are likely literals that they were not given.
func (d *driver) trySource() {
	end := d.cfg.Now().Add(sourceTime)
	vain := map[*target]int{}
	for range d.cfg.Calls {
		for _, t := range order(d.tools) {
			if vain[t] > maxVain || !t.takesMore() {
				continue
			}
			if !d.more() || d.cfg.Now().After(end) {
				return
			}
			left := t.reached.Untried(likely)
			t.further = true
			d.call(t, 1)
			vain[t]++
			if t.reached != nil && t.reached.Open() && t.reached.Untried(likely) < left {
				vain[t] = 0
			}
		}
	}
}

// takesMore says that further calls of a target are worth their time.
func (t *target) takesMore() bool {
	return t.sourced && !t.gone && !t.slow && t.cover.OK > 0 && t.cover.Timeouts == 0 && t.reached != nil && t.reached.Untried(likely) > 0
}

// declared walks a schema and takes in the values that it names for a property.
func (l *learner) declared(name string, v any, depth int) {
	m, ok := v.(map[string]any)
	if !ok || depth > maxDeclaredDepth || l.left <= 0 {
		return
	}
	for _, k := range []string{"enum", "examples"} {
		list, _ := m[k].([]any)
		for _, x := range list[:min(len(list), maxDeclaredDepth)] {
			l.text(name, x)
		}
	}
	l.text(name, m["default"])
	l.text(name, m["const"])
	if properties, ok := m["properties"].(map[string]any); ok {
		names := make([]string, 0, len(properties))
		for k := range properties {
			names = append(names, k)
		}
		sort.Strings(names)
		for _, k := range names {
			l.declared(k, properties[k], depth+1)
		}
	}
	l.declared(name, m["items"], depth+1)
	for _, k := range []string{"anyOf", "oneOf", "allOf"} {
		list, _ := m[k].([]any)
		for _, x := range list {
			l.declared(name, x, depth+1)
		}
	}
}

func (l *learner) text(name string, v any) {
	switch v := v.(type) {
	case string:
		l.add(name, v)
	case []any: // an example of a list: each of its elements may fit an argument of that name
		for _, x := range v[:min(len(v), maxDeclaredDepth)] {
			if s, ok := x.(string); ok {
				l.add(name, s)
			}
		}
	}
}
