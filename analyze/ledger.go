package analyze

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// ledger is a run as the user's own rules see it. Its effects and calls have the indexes
// that they have in the profile, its claims those of surfaceClaims, its findings those given.
func (j *judge) ledger(run *rules.Run, found []finding.Finding) *custom.Ledger {
	l := &custom.Ledger{Schema: custom.Schema, Effects: []*custom.Effect{}, Claims: surfaceClaims(&run.Scope), Calls: []*custom.Call{}, Findings: []*custom.Finding{}}
	tools := map[string]*custom.Tool{}
	for i := range run.Scope.Tools {
		t := &run.Scope.Tools[i]
		tools[t.Name] = &custom.Tool{
			Name: t.Name, ReadOnlyHint: t.ReadOnly, DestructiveHint: t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: t.OpenWorld,
			Claims: claims(t.Name, t), Paths: slices.Clone(t.Paths), URLs: slices.Clone(t.URLs), Commands: slices.Clone(t.Commands),
		}
	}
	explained := rules.Ledger(run)
	for i := range run.Profile.Effects {
		l.Effects = append(l.Effects, effect(run, &run.Profile.Effects[i], explained[i]))
	}
	for i := range run.Profile.Calls {
		c := &run.Profile.Calls[i]
		l.Calls = append(l.Calls, &custom.Call{Call: c.N, What: c.What, Tool: run.NameOf(c), Outcome: string(c.Outcome), Undeclared: c.Undeclared(), Arguments: j.arguments(run.Args[c.N], c)})
	}
	for i := range found {
		f := &found[i]
		e := &custom.Finding{
			Rule: f.Rule, Severity: string(f.Severity), Title: f.Title, Message: f.Message, Tool: f.Tool, Call: f.Call,
			Phase: string(f.Phase), Rung: string(f.Rung), Confidence: string(f.Confidence),
		}
		if at := f.Read(); at != nil {
			e.Path = at.Path
		}
		l.Findings = append(l.Findings, e)
	}
	return j.linked(l, tools)
}

// linked takes the decoys out of a ledger and then joins its entries to one another: a
// tool's declaration stands in many.
func (j *judge) linked(l *custom.Ledger, tools map[string]*custom.Tool) *custom.Ledger {
	calls := map[int]*custom.Call{}
	var links []func()
	declares := func(tool string, to **custom.Tool) {
		if t := tools[tool]; t != nil {
			links = append(links, func() { *to = t })
		}
	}
	for _, c := range l.Calls {
		calls[c.Call] = c
		declares(c.Tool, &c.Declared)
	}
	for _, c := range l.Claims {
		declares(c.Tool, &c.Declared)
	}
	for _, f := range l.Findings {
		declares(f.Tool, &f.Declared)
	}
	for _, e := range l.Effects {
		declares(e.Tool, &e.Declared)
		if c := calls[e.Call]; c != nil {
			links = append(links, func() { c.Effects = append(c.Effects, e) })
		}
	}
	s := sanitizer{set: j.set}
	for _, part := range []any{l, tools} {
		if whole, err := json.Marshal(part); err != nil || len(j.set.Find(whole)) > 0 {
			s.redact = true
		}
	}
	s.walk(reflect.ValueOf(l).Elem())
	for _, t := range tools {
		s.walk(reflect.ValueOf(t))
	}
	for _, link := range links {
		link()
	}
	return l
}

func effect(run *rules.Run, e *finding.Effect, x *finding.Explanation) *custom.Effect {
	out := &custom.Effect{
		Kind: string(e.Kind), Target: e.Target, Phase: string(e.Phase), Tool: e.Tool, Call: e.Call, Count: e.Count, Rung: string(e.Rung),
		Actor: e.Actor, Argv: slices.Clone(e.Argv), Noise: e.Noise, Host: e.Host, Via: e.Via, Encoding: e.Encoding, Used: e.Used, Opaque: e.Opaque, Ambiguous: e.Ambiguous,
	}
	switch e.Kind {
	case finding.FileRead, finding.FileWrite, finding.FileDelete, finding.FileMeta, finding.Exec:
		out.Path = run.Places().Name(e.Target)
	case finding.Secret:
		if c := run.Canaries[e.Target]; c.Path != "" {
			out.Path = run.Places().Name(c.Path)
		}
	}
	if x != nil {
		out.Explained = &custom.Explanation{Class: string(x.Class), Strength: string(x.Strength), Where: x.Where, Text: x.Text}
	}
	return out
}

// surfaceClaims is what a surface declares, claim by claim: the tools' in their order, then the server's.
func surfaceClaims(s *scope.Server) []*custom.Claim {
	out := []*custom.Claim{}
	for i := range s.Tools {
		out = append(out, claims(s.Tools[i].Name, &s.Tools[i])...)
	}
	out = append(out, claims("", &s.Purpose)...)
	out = append(out, claimed("hosts", "", s.Hosts)...)
	return append(out, claimed("offline", "", s.Offline)...)
}

func claims(tool string, t *scope.Tool) []*custom.Claim {
	var out []*custom.Claim
	for _, l := range []struct {
		kind string
		list []scope.Claim
	}{
		{"local", t.Local}, {"network", t.Network}, {"exec", t.Exec}, {"environment", t.Environment}, {"write", t.Write}, {"delete", t.Delete},
		{"confined", t.Confined}, {"outward", t.Outward}, {"shell", t.Shell}, {"code", t.Code},
	} {
		out = append(out, claimed(l.kind, tool, l.list)...)
	}
	return out
}

func claimed(kind, tool string, list []scope.Claim) []*custom.Claim {
	var out []*custom.Claim
	for _, c := range list {
		out = append(out, &custom.Claim{Kind: kind, Tool: tool, Where: c.Where, Text: c.Text})
	}
	return out
}

// arguments are what a call was given. Of what is no object nothing is told but a
// resource's address.
func (j *judge) arguments(raw json.RawMessage, c *profile.Call) map[string]any {
	var v any
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	if uri, ok := v.(string); ok && c.What == "resource" {
		v = map[string]any{"uri": uri}
	}
	s := sanitizer{set: j.set, redact: true}
	args, _ := s.plain(v).(map[string]any)
	return args
}

// plain is a JSON value without decoys and with its texts cut.
func (s *sanitizer) plain(v any) any {
	switch v := v.(type) {
	case string:
		return s.text(v)
	case []any:
		for i := range v {
			v[i] = s.plain(v[i])
		}
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out[s.text(k)] = s.plain(v[k])
		}
		return out
	}
	return v
}
