package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Guard is what the server's source asks of a tool's arguments before it acts on the world.
type Guard struct {
	// Tool is the tool's name, "" where the source does not say it.
	Tool string `json:"tool,omitempty"`
	// Asks are tests, each of which has to pass.
	Asks []Ask `json:"asks"`
}

// Ask is a test of one parameter.
type Ask struct {
	// Parameter is the name of the argument, or of a member of one.
	Parameter string `json:"parameter"`
	// Test is "equals", "begins", "ends", "contains", "matches", "above", "below", "longer" or
	// "shorter".
	Test string `json:"test"`
	// Text is the literal that it compares with.
	Text string `json:"text"`
	// Number is set where that is a number.
	Number bool `json:"number,omitempty"`
}

// maxGuardDepth bounds how deep in the arguments a parameter is looked for.
const maxGuardDepth = 4

// Meet changes arguments so that they pass the tests of a guard. matching makes a text that
// an expression matches, "" for none. A parameter that the arguments lack is added. It reports
// whether all tests could be met.
func (g *Guard) Meet(args map[string]any, matching func(expression string) string) bool {
	for _, a := range g.Asks {
		in := holder(args, a.Parameter, 0)
		if in == nil {
			in = args
		}
		v, ok := a.met(in[a.Parameter], matching)
		if !ok {
			return false
		}
		in[a.Parameter] = v
	}
	return len(g.Asks) > 0
}

// Needs reports whether a guard asks for a parameter.
func (g *Guard) Needs(parameter string) bool {
	return slices.ContainsFunc(g.Asks, func(a Ask) bool { return a.Parameter == parameter })
}

// holder is the object nearest to the top that has a member of a name, nil for none.
func holder(v any, name string, depth int) map[string]any {
	m, ok := v.(map[string]any)
	if list, isList := v.([]any); isList && len(list) > 0 && depth < maxGuardDepth {
		return holder(list[0], name, depth+1)
	}
	if !ok || depth > maxGuardDepth {
		return nil
	}
	if _, there := m[name]; there {
		return m
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if in := holder(m[k], name, depth+1); in != nil {
			return in
		}
	}
	return nil
}

// met is a value that passes the test, near to the one that is there.
func (a *Ask) met(have any, matching func(string) string) (any, bool) {
	if list, ok := have.([]any); ok && a.Test != "longer" && a.Test != "shorter" {
		var first any
		if len(list) > 0 {
			first = list[0]
		}
		v, ok := a.met(first, matching)
		return []any{v}, ok
	}
	old, _ := have.(string)
	switch a.Test {
	case "equals":
		_, isNumber := have.(json.Number)
		if a.Number && (have == nil || isNumber) {
			return json.Number(a.Text), json.Valid([]byte(a.Text))
		}
		return a.Text, true
	case "begins":
		if strings.HasPrefix(old, a.Text) {
			return old, true
		}
		return a.Text + old, true
	case "ends":
		if strings.HasSuffix(old, a.Text) {
			return old, true
		}
		return old + a.Text, true
	case "contains":
		if strings.Contains(old, a.Text) {
			return old, true
		}
		return strings.TrimSpace(old + " " + a.Text), true
	case "matches":
		s := matching(a.Text)
		return s, s != ""
	case "above", "below":
		return a.adjacent()
	case "longer", "shorter":
		return a.ofLength(old)
	}
	return nil, false
}

// adjacent is the number next to the literal.
func (a *Ask) adjacent() (any, bool) {
	n, err := strconv.ParseInt(a.Text, 0, 32)
	if err != nil {
		return nil, false
	}
	if a.Test == "above" {
		return json.Number(strconv.FormatInt(n+1, 10)), true
	}
	return json.Number(strconv.FormatInt(n-1, 10)), true
}

// ofLength is a text that is longer, or shorter, than the literal says.
func (a *Ask) ofLength(old string) (any, bool) {
	n, ok := strconv.Atoi(a.Text)
	switch {
	case ok != nil || n < 0 || n > maxTextEver:
		return nil, false
	case a.Test == "shorter":
		return old[:max(min(len(old), n-1), 0)], n > 0
	case len(old) > n:
		return old, true
	}
	return old + strings.Repeat("x", n+1-len(old)), true
}
