package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// toolView is a tool's declaration beside what it did.
type toolView struct {
	Name     string
	Severity finding.Severity
	Calls    string
	Hints    []hintView
	Claims   []claimView
	Does     []doneView
	Ordinary string
	Findings []linkView
}

// hintView is an annotation: Value is "true", "false" or "" for absent.
type hintView struct{ Name, Value string }

// claimView is something said, with the words that said it.
type claimView struct {
	What   string
	Quotes []quoteView
}

type quoteView struct{ Text, Where string }

// doneView is a kind of effect with its targets.
type doneView struct {
	What    string
	Kind    finding.EffectKind
	Targets []targetView
	More    int
}

type targetView struct {
	Text      string
	Count     int
	Attempted bool
	Ambiguous bool
	Rung      finding.Rung
	// Why is what explains it, Sources the lines that are likely to have caused it.
	Why, Sources string
}

type linkView struct {
	ID, Rule, Title string
	Severity        finding.Severity
}

// tools puts the tools with findings first; those that did nothing beyond the
// ordinary are a list of their own.
func (v *pageView) tools(res *analyze.Result) {
	byTool := map[string][]*finding.Effect{}
	for i := range res.Observed {
		e := &res.Observed[i]
		byTool[e.Tool] = append(byTool[e.Tool], e)
	}
	links := map[string][]linkView{}
	for i, f := range sorted(res)[:len(v.Findings)] {
		if f.Phase != finding.PhaseStatic {
			links[f.Tool] = append(links[f.Tool], linkView{fmt.Sprintf("f%d", i+1), v.Findings[i].Rule, v.Findings[i].Title, f.Severity})
		}
	}
	calls := map[string]analyze.ToolCoverage{}
	for _, c := range res.Coverage.Tools {
		calls[c.Name] = c
	}
	make := func(t *scope.Tool) toolView {
		tv := toolView{Name: Escape(t.Name, 120), Hints: hints(t), Claims: claims(t), Findings: links[t.Name], Calls: callsOf(calls[t.Name])}
		tv.Does, tv.Ordinary = done(byTool[t.Name], res.Decoys)
		if len(tv.Findings) > 0 {
			tv.Severity = tv.Findings[0].Severity
		}
		return tv
	}
	seen := map[string]bool{"": true}
	var loud []toolView
	add := func(t *scope.Tool) {
		if seen[t.Name] {
			return
		}
		seen[t.Name] = true
		if tv := make(t); len(tv.Findings) > 0 || len(tv.Does) > 0 {
			loud = append(loud, tv)
		} else {
			v.Quiet = append(v.Quiet, tv)
		}
	}
	for i := range res.Declared.Tools {
		add(&res.Declared.Tools[i])
	}
	for _, c := range res.Coverage.Tools {
		add(&scope.Tool{Name: c.Name})
	}
	slices.SortStableFunc(loud, func(a, b toolView) int { return b.Severity.Rank() - a.Severity.Rank() })
	v.MoreTools = max(0, len(loud)-maxPageTools) + max(0, len(v.Quiet)-maxPageRows)
	if len(loud) > 0 && len(loud[0].Findings) > 0 && len(loud[0].Does) > 0 {
		v.Worst = &loud[0]
	}
	v.Tools, v.Quiet = loud[:min(len(loud), maxPageTools)], v.Quiet[:min(len(v.Quiet), maxPageRows)]
	outside := toolView{Claims: claims(&res.Declared.Purpose), Findings: links[""]}
	outside.Does, outside.Ordinary = done(byTool[""], res.Decoys)
	if len(outside.Does)+len(outside.Findings) > 0 {
		v.Outside = &outside
	}
}

func callsOf(c analyze.ToolCoverage) string {
	switch {
	case c.Calls == 0:
		return "never called"
	case c.OK == c.Calls:
		return plural(c.Calls, "call")
	default:
		return fmt.Sprintf("%s, %d succeeded", plural(c.Calls, "call"), c.OK)
	}
}

func hints(t *scope.Tool) []hintView {
	var out []hintView
	for _, h := range []struct {
		name  string
		value *bool
	}{{"readOnlyHint", t.ReadOnly}, {"destructiveHint", t.Destructive}, {"idempotentHint", t.Idempotent}, {"openWorldHint", t.OpenWorld}} {
		value := ""
		if h.value != nil {
			value = fmt.Sprint(*h.value)
		}
		out = append(out, hintView{h.name, value})
	}
	return out
}

func claims(t *scope.Tool) []claimView {
	var out []claimView
	for _, c := range []struct {
		what   string
		claims []scope.Claim
	}{
		{"Works locally", t.Local}, {"Uses the network", t.Network}, {"Runs programs", t.Exec}, {"Returns the environment", t.Environment},
		{"Changes something", t.Write}, {"Deletes something", t.Delete},
	} {
		cv := claimView{What: c.what}
		for _, q := range c.claims {
			if q.Where == "annotation" {
				continue // a hint of its own
			}
			qv := quoteView{Escape(q.Text, 80), Escape(q.Where, 40)}
			if !slices.Contains(cv.Quotes, qv) && len(cv.Quotes) < 3 {
				cv.Quotes = append(cv.Quotes, qv)
			}
		}
		if len(cv.Quotes) > 0 {
			out = append(out, cv)
		}
	}
	for _, c := range []struct {
		what string
		args []string
	}{{"Takes a path", t.Paths}, {"Takes a URL", t.URLs}, {"Takes a command", t.Commands}} {
		cv := claimView{What: c.what}
		for _, a := range c.args[:min(len(c.args), 4)] {
			cv.Quotes = append(cv.Quotes, quoteView{Escape(a, 60), "argument"})
		}
		if len(cv.Quotes) > 0 {
			out = append(out, cv)
		}
	}
	return out
}

// kindOfEffect is a kind with its verb.
type kindOfEffect struct {
	kind finding.EffectKind
	what string
}

// kinds are the effects in the order in which a reader wants them.
var kinds = []kindOfEffect{
	{finding.Secret, "Decoy secrets"}, {finding.NetConnect, "Connected to"}, {finding.Exec, "Ran"}, {finding.FileDelete, "Deleted"}, {finding.FileWrite, "Wrote"},
	{finding.FileMeta, "Changed"}, {finding.FileRead, "Opened"}, {finding.NetListen, "Listened on"}, {finding.UnixSocket, "Unix sockets"},
	{finding.Statement, "Told a service"},
	{finding.Tamper, "Called"}, {finding.Crash, "Crashed"}, {finding.Protocol, "Broke the protocol"},
}

// done groups effects; ordinary is a line about those that prove nothing.
func done(effects []*finding.Effect, decoys map[string]string) (out []doneView, ordinary string) {
	noise := map[string]int{}
	total := 0
	for _, k := range kinds {
		d := doneView{What: k.what, Kind: k.kind}
		index := map[string]int{}
		for _, e := range effects {
			switch {
			case e.Kind != k.kind:
				continue
			case e.Noise != "":
				noise[e.Noise] += e.Count
				total += e.Count
				continue
			}
			to := objectOf(e, decoys)
			if i, ok := index[to]; ok {
				d.Targets[i].merge(e)
				continue
			}
			index[to] = len(d.Targets)
			d.Targets = append(d.Targets, targetView{Text: Escape(to, 160), Count: e.Count, Attempted: e.Rung == finding.RungAttempted, Ambiguous: e.Ambiguous, Rung: e.Rung, Why: why(e.Explained), Sources: sources(e.Sources)})
		}
		d.More = max(0, len(d.Targets)-maxPageTargets)
		d.Targets = d.Targets[:len(d.Targets)-d.More]
		if len(d.Targets) > 0 {
			out = append(out, d)
		}
	}
	if total == 0 {
		return out, ""
	}
	names := slices.SortedFunc(maps.Keys(noise), func(a, b string) int {
		return cmp.Or(noise[b]-noise[a], strings.Compare(a, b))
	})
	var parts []string
	for _, n := range names[:min(len(names), 4)] {
		parts = append(parts, fmt.Sprintf("%d %s", noise[n], n))
	}
	return out, fmt.Sprintf("and %s: %s", plural(total, "event")+" filtered as runtime noise", strings.Join(parts, ", "))
}

// objectOf is what an effect was done to; a decoy goes by its place.
func objectOf(e *finding.Effect, decoys map[string]string) string {
	if e.Kind == finding.Secret {
		return cmp.Or(decoys[e.Target], e.Target)
	}
	return e.Target
}

// why says in words what explains an effect, and where that is weak.
func why(x *finding.Explanation) string {
	if x == nil {
		return "not declared"
	}
	if x.Strength == finding.StrengthWeak && x.Class != finding.ClassDefault {
		return reason(x) + " (weak)"
	}
	return reason(x)
}

func reason(x *finding.Explanation) string {
	said := "“" + Escape(x.Text, 60) + "”"
	switch x.Class {
	case finding.ClassPolicy:
		return "allowed by your policy"
	case finding.ClassArgument:
		return "named by an argument of the call"
	case finding.ClassOwn:
		return "the server's own file"
	case finding.ClassState:
		return "the server's own state"
	case finding.ClassOrdinary:
		return "ordinary: " + Escape(x.Text, 60)
	case finding.ClassDefault:
		if x.Text != "readOnlyHint" {
			return Escape(x.Text, 60)
		}
		return said + " is not set, so the tool may change files"
	case finding.ClassClaim:
		return Escape(x.Where, 40) + ": " + said
	}
	return string(x.Class)
}

// merge counts another occurrence of the same target; the higher rung stays.
func (t *targetView) merge(e *finding.Effect) {
	t.Count += e.Count
	t.Ambiguous = t.Ambiguous && e.Ambiguous
	if e.Rung.Rank() > t.Rung.Rank() {
		t.Rung, t.Attempted = e.Rung, e.Rung == finding.RungAttempted
	}
}
