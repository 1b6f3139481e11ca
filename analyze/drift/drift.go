package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Drift is one novelty of a session, in glassport's form.
type Drift struct {
	// Session is the log's file name.
	Session string `json:"session"`
	Kind    string `json:"kind"`
	// Severity is 1 worth a look, 2 should not happen, 3 hostile unless proven otherwise.
	Severity    int            `json:"severity"`
	Explanation string         `json:"explanation"`
	Detail      map[string]any `json:"detail"`
}

// baseline is all that a server was seen doing.
type baseline struct {
	sessions                                                    int
	declared, called, fabricated, requests, hosts, capabilities set
	versions                                                    map[string]set
	hashes                                                      map[string]set // of inputSchema, by tool
	parts                                                       map[string]map[string]set
	serverParts                                                 map[string]set
	lastDeclared                                                []string
	lastSchemas                                                 map[string]json.RawMessage
	calls                                                       map[string]int
	behaviours                                                  set // nil while none are known
}

func newBaseline() *baseline {
	return &baseline{declared: set{}, called: set{}, fabricated: set{}, requests: set{}, hosts: set{}, capabilities: set{},
		versions: map[string]set{}, hashes: map[string]set{}, parts: map[string]map[string]set{}, serverParts: map[string]set{},
		lastSchemas: map[string]json.RawMessage{}, calls: map[string]int{}}
}

// merge folds a session in.
func (b *baseline) merge(f *Fingerprint) {
	b.sessions++
	for _, x := range []struct {
		to   set
		from []string
	}{{b.declared, f.Declared}, {b.called, f.Called}, {b.fabricated, f.Fabricated}, {b.requests, f.ServerRequests}, {b.hosts, f.Hosts}, {b.capabilities, f.Capabilities}} {
		for _, v := range x.from {
			x.to.add(v)
		}
	}
	for tool, n := range f.CallCounts {
		b.calls[tool] += n
	}
	for tool, h := range f.SchemaHashes {
		addTo(b.hashes, tool, h)
	}
	for what, parts := range f.Parts {
		again := b.parts[what] != nil
		if !again {
			b.parts[what] = map[string]set{}
		}
		for _, part := range partNames(b.parts[what], parts) {
			if again && b.parts[what][part] == nil {
				addTo(b.parts[what], part, "") // it was absent until now
			}
			addTo(b.parts[what], part, parts[part])
		}
	}
	if f.ServerName != "" {
		if f.ServerVersion != "" {
			addTo(b.versions, f.ServerName, f.ServerVersion)
		}
		for _, part := range []string{"instructions", "title"} {
			addTo(b.serverParts, part, f.ServerParts[part])
		}
	}
	if f.Behaviours != nil && b.behaviours == nil {
		b.behaviours = set{}
	}
	for _, behaviour := range f.Behaviours {
		b.behaviours.add(behaviour)
	}
	if f.Known {
		b.lastDeclared = f.Declared
	}
	maps.Copy(b.lastSchemas, f.schemas)
}

// partNames are the parts of a declaration now or ever; one that is absent now has the hash "".
func partNames(ever map[string]set, now Parts) []string {
	all := set{}
	for p := range ever {
		all.add(p)
	}
	for p := range now {
		all.add(p)
	}
	return all.sorted()
}

func addTo(m map[string]set, key, v string) {
	if m[key] == nil {
		m[key] = set{}
	}
	m[key].add(v)
}

// collector of one session's drift.
type finder struct {
	session string
	out     []Drift
}

func (d *finder) add(kind string, severity int, detail map[string]any, format string, args ...any) {
	d.out = append(d.out, Drift{Session: d.session, Kind: kind, Severity: severity, Explanation: fmt.Sprintf(format, args...), Detail: detail})
}

// compare lists what of a session is new. A server's first session is its baseline.
func (b *baseline) compare(f *Fingerprint) []Drift {
	if b.sessions == 0 {
		return nil
	}
	d := &finder{session: f.Source}
	if f.TailOnly {
		d.add("tail_only_partial", 1, map[string]any{}, "the log begins in the middle of the session: what differs before that is not known")
	}
	b.surface(d, f)
	b.declarations(d, f)
	if f.PrematureChange && !f.TailOnly {
		d.add("premature_list_changed", 2, map[string]any{}, "the server announced another list of tools while its ttlMs for the last one had not passed")
	}
	b.behaviour(d, f)
	b.identity(d, f)
	return d.out
}

// surface compares which tools there are, and how often each is called.
func (b *baseline) surface(d *finder, f *Fingerprint) {
	for _, t := range f.Declared {
		if !b.declared[t] {
			d.add("new_declared_tool", 2, map[string]any{"tool": t}, "the tool “%s” was never declared before", t)
		}
	}
	if f.Known {
		for _, t := range b.lastDeclared {
			if !slices.Contains(f.Declared, t) {
				d.add("removed_declared_tool", 1, map[string]any{"tool": t}, "the tool “%s” is no longer declared", t)
			}
		}
	}
	if total(b.calls) >= minCalls && total(f.CallCounts) >= minCalls {
		if j := divergence(b.calls, f.CallCounts); j > 0.15 {
			severity := 1
			if j > 0.3 {
				severity = 2
			}
			if j > 0.5 {
				severity = 3
			}
			d.add("jsd_drift", severity, map[string]any{"jsd": math.Round(j*1e4) / 1e4}, "the tools are called in other proportions than before (divergence %.3f)", j)
		}
	}
}

// declarations compares what is said under the same names.
func (b *baseline) declarations(d *finder, f *Fingerprint) {
	for _, t := range slices.Sorted(maps.Keys(f.SchemaHashes)) {
		h := f.SchemaHashes[t]
		if seen := b.hashes[t]; seen != nil && !seen[h] {
			kind := changeOf(b.lastSchemas[t], f.schemas[t])
			severity := 2
			if kind == "mutative" {
				severity = 3
			}
			d.add("schema_changed", severity, map[string]any{"tool": t, "hash": h, "change_kind": kind}, "the input schema of “%s” was not declared before (%s)", t, kind)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(f.Parts)) {
		ever := b.parts[what]
		if ever == nil {
			continue
		}
		var changed []string
		for _, part := range partNames(ever, f.Parts[what]) {
			if part == "inputSchema" && strings.HasPrefix(what, "tool ") {
				continue // told above
			}
			// A part that no session had is as new as another text of it.
			if h := f.Parts[what][part]; ever[part] == nil || !ever[part][h] {
				changed = append(changed, part)
			}
		}
		if len(changed) > 0 {
			kind, name, _ := strings.Cut(what, " ")
			d.add("declaration_changed", 2, map[string]any{kind: name, "parts": changed}, "the %s “%s” differs from every earlier declaration: %s", kind, name, strings.Join(changed, ", "))
		}
	}
	for _, part := range []string{"instructions", "title"} {
		if seen := b.serverParts[part]; f.ServerName != "" && seen != nil && !seen[f.ServerParts[part]] {
			d.add("declaration_changed", 2, map[string]any{"server": f.ServerName, "parts": []string{part}}, "the server's %s are new", part)
		}
	}
}

// behaviour compares what was done.
func (b *baseline) behaviour(d *finder, f *Fingerprint) {
	for _, t := range f.Fabricated {
		if !b.fabricated[t] {
			d.add("new_fabricated_tool", 3, map[string]any{"tool": t}, "“%s” was called for the first time, and no list declares it", t)
		}
	}
	for _, t := range f.Called {
		if !b.called[t] && !slices.Contains(f.Fabricated, t) {
			d.add("new_called_tool", 1, map[string]any{"tool": t}, "“%s” was called for the first time", t)
		}
	}
	for _, m := range f.ServerRequests {
		if !b.requests[m] {
			d.add("new_server_request", 2, map[string]any{"method": m}, "the server sent the request “%s” for the first time", m)
		}
	}
	for _, h := range f.Hosts {
		if !b.hosts[h] {
			d.add("new_host", 2, map[string]any{"host": h}, "the host “%s” crossed the wire for the first time", h)
		}
	}
	for _, behaviour := range f.Behaviours {
		if b.behaviours != nil && !b.behaviours[behaviour] {
			d.add("new_behaviour", 2, map[string]any{"behaviour": behaviour}, "the server %s for the first time", behaviour)
		}
	}
	for _, c := range f.Capabilities {
		if !b.capabilities[c] {
			d.add("new_capability", 1, map[string]any{"capability": c}, "the server offers the capability “%s” for the first time", c)
		}
	}
}

// identity compares the server's version; Watch compares its name.
func (b *baseline) identity(d *finder, f *Fingerprint) {
	if versions := b.versions[f.ServerName]; f.ServerVersion != "" && versions != nil && !versions[f.ServerVersion] {
		d.add("server_version_changed", 1, map[string]any{"version": f.ServerVersion}, "the server's version is %s for the first time", f.ServerVersion)
	}
}

// changeOf tells an addition from a change of what was there: "additive",
// "mutative", or "unknown" where neither can be told.
func changeOf(before, after json.RawMessage) string {
	p, pOK := fieldsOf(before)
	q, qOK := fieldsOf(after)
	switch {
	case !pOK || len(after) == 0 || after[0] != '{':
		return "unknown"
	case !qOK:
		return "mutative"
	}
	for name, spec := range p.types {
		now, ok := q.types[name]
		if !ok || now != spec {
			return "mutative"
		}
	}
	for name := range q.required {
		if !p.required[name] {
			return "mutative"
		}
	}
	if len(q.types) > len(p.types) {
		return "additive"
	}
	return "unknown"
}

type fields struct {
	types    map[string]string
	required set
}

// fieldsOf reads a schema's properties and what is required; ok is false for one
// that is malformed.
func fieldsOf(schema json.RawMessage) (f fields, ok bool) {
	f = fields{types: map[string]string{}, required: set{}}
	ok = true
	object := wire.Walk(schema, func(key, value []byte) {
		switch {
		case value[0] == 'n':
		case string(key) == "properties":
			ok = ok && wire.Walk(value, func(key, value []byte) {
				kind := string(value)
				if value[0] == '{' {
					t, _ := wire.Member(value, "type")
					kind = "type " + string(t)
				} else if value[0] != 't' && value[0] != 'f' {
					ok = false
				}
				f.types[string(key)] = kind
			})
		case string(key) == "required":
			ok = ok && wire.WalkArray(value, func(_ int, v []byte) {
				s, text := wire.Text(v)
				ok = ok && text
				f.required.add(s)
			})
		}
	})
	return f, ok && object
}

// minCalls is how many calls both sides need before proportions are compared.
const minCalls = 5

func total(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// divergence is Jensen's and Shannon's, in bits: 0 for equal proportions, 1 for
// nothing in common.
func divergence(p, q map[string]int) float64 {
	np, nq := float64(total(p)), float64(total(q))
	d := 0.0
	half := func(a, m float64) {
		if a > 0 {
			d += a * math.Log2(a/m) / 2
		}
	}
	all := set{}
	for k := range p {
		all[k] = true
	}
	for k := range q {
		all[k] = true
	}
	for _, k := range all.sorted() {
		a, b := float64(p[k])/np, float64(q[k])/nq
		half(a, (a+b)/2)
		half(b, (a+b)/2)
	}
	return d
}
