package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// tools are, for each tool, what it declares beside what it was observed to do.
func (v *runView) tools() []item {
	res := v.data.res
	observed := map[string][]finding.Effect{}
	for _, e := range res.Observed {
		observed[e.Tool] = append(observed[e.Tool], e)
	}
	var out []item
	for i := range res.Declared.Tools {
		t := &res.Declared.Tools[i]
		out = append(out, v.compared(t.Name, v.declares(t), observed[t.Name])...)
		delete(observed, t.Name)
	}
	var others []string
	for name := range observed {
		others = append(others, name)
	}
	slices.Sort(others)
	for _, name := range others {
		title := name
		if name == "" {
			title = "(outside calls)"
		}
		out = append(out, v.compared(title, []string{"-"}, observed[name])...)
	}
	if len(out) == 0 {
		out = append(out, said("no tool was declared, and nothing was observed"))
	}
	return out
}

// maxBeside bounds the effects that are listed of one tool.
const maxBeside = 200

// compared are the lines of one tool: declared at the left, observed at the right.
func (v *runView) compared(name string, declares []string, effects []finding.Effect) []item {
	var does []string
	ordinary := 0
	effects = merged(effects)
	slices.SortStableFunc(effects, func(a, b finding.Effect) int {
		return cmp.Or(cmp.Compare(rankOf(&b), rankOf(&a)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Target, b.Target))
	})
	for i := range effects {
		e := &effects[i]
		if e.Noise != "" {
			ordinary++
			continue
		}
		if len(does) < maxBeside {
			does = append(does, v.effect(e))
		}
	}
	if n := len(effects) - ordinary - len(does); n > 0 {
		does = append(does, v.dim(fmt.Sprintf("… %d more, in report.json", n)))
	}
	if ordinary > 0 {
		does = append(does, v.dim(fmt.Sprintf("%d ordinary effects", ordinary)))
	}
	if len(does) == 0 {
		does = []string{v.dim("nothing was observed")}
	}
	out := []item{said(v.bold(clean(name, 200)))}
	for i := range max(len(declares), len(does)) {
		l, r := "", ""
		if i < len(declares) {
			l = declares[i]
		}
		if i < len(does) {
			r = does[i]
		}
		out = append(out, item{line: func(w int) string {
			half := max(10, (w-5)*2/5)
			return "  " + pad(l, half) + " │ " + r
		}})
	}
	return out
}

// rankOf orders effects: what nothing explains comes first.
func rankOf(e *finding.Effect) int {
	if e.Explained == nil && e.Noise == "" {
		return 1
	}
	return 0
}

// effect is what was observed, and what explains it.
func (v *runView) effect(e *finding.Effect) string {
	line := fmt.Sprintf("%s %s", e.Kind, clean(e.Target, 200))
	if e.Count > 1 {
		line += fmt.Sprintf(" (%d times)", e.Count)
	}
	if e.Rung != "" {
		line += ", " + clean(string(e.Rung), 20)
	}
	if e.Explained == nil {
		return v.bad("! ") + line
	}
	return "  " + line + v.dim("; "+clean(string(e.Explained.Class)+" "+e.Explained.Text, 120))
}

// declares are a tool's hints and claims, each in a line.
func (v *runView) declares(t *scope.Tool) []string {
	var out []string
	for _, h := range []struct {
		name string
		is   *bool
	}{{"readOnlyHint", t.ReadOnly}, {"destructiveHint", t.Destructive}, {"idempotentHint", t.Idempotent}, {"openWorldHint", t.OpenWorld}} {
		if h.is != nil {
			out = append(out, fmt.Sprintf("%s: %t", h.name, *h.is))
		}
	}
	for _, c := range []struct {
		what   string
		claims []scope.Claim
	}{
		{"no network", t.Local}, {"network", t.Network}, {"runs programs", t.Exec}, {"environment", t.Environment}, {"writes", t.Write},
		{"deletes", t.Delete}, {"stays within", t.Confined}, {"asks no machine within", t.Outward}, {"runs a shell", t.Shell}, {"runs code", t.Code},
	} {
		for _, claim := range c.claims {
			out = append(out, c.what+": “"+clean(claim.Text, 120)+"”")
		}
	}
	for _, a := range []struct {
		what  string
		names []string
	}{{"path", t.Paths}, {"URL", t.URLs}, {"command", t.Commands}} {
		if len(a.names) > 0 {
			out = append(out, a.what+" in "+clean(strings.Join(a.names, ", "), 200))
		}
	}
	if len(out) == 0 {
		out = append(out, v.dim("nothing is declared"))
	}
	return out
}

// merged is one effect of each kind on each target, with the highest rung and the sum of the counts.
// What nothing explains stays apart.
func merged(effects []finding.Effect) []finding.Effect {
	type key struct {
		kind           finding.EffectKind
		target         string
		plain, unknown bool
	}
	at := map[key]int{}
	var out []finding.Effect
	for _, e := range effects {
		k := key{e.Kind, e.Target, e.Noise != "", e.Explained == nil}
		i, ok := at[k]
		if !ok {
			at[k] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Count += e.Count
		if e.Rung.Rank() > out[i].Rung.Rank() {
			out[i].Rung = e.Rung
		}
	}
	return out
}
