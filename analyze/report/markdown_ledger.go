package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// The bounds of the ledger in the summary: lines in all and of one tool, and objects in one line.
const (
	maxLedgerLines   = 120
	maxLedgerPerTool = 12
	maxLedgerObjects = 3
)

// ledgerLine is what one tool did of a kind for one reason.
type ledgerLine struct {
	kind    int // the place in kinds
	reason  string
	rank    int // 0 where nothing explains it, else 1
	objects []string
	count   int
}

// ledger writes for each tool what it did and what explains it, first what nothing explains. What is
// ordinary in any program is counted only.
func (m *markdown) ledger(res *analyze.Result) {
	tools, byTool := []string{}, map[string][]*finding.Effect{}
	for i := range res.Observed {
		e := &res.Observed[i]
		if byTool[e.Tool] == nil {
			tools = append(tools, e.Tool)
		}
		byTool[e.Tool] = append(byTool[e.Tool], e)
	}
	if len(tools) == 0 || !m.line("<details><summary>What each tool did, and what explains it</summary>") {
		return
	}
	m.line("")
	m.line("| tool | did | explained by |")
	m.line("|---|---|---|")
	left := maxLedgerLines
	for i, name := range tools {
		lines := ledgerOf(byTool[name], res.Decoys)
		shown := lines[:min(len(lines), maxLedgerPerTool, left)]
		for k := range shown {
			if !m.line("| %s | %s | %s |", ledgerTool(name), shown[k].did(), code(shown[k].reason, 120)) {
				shown, left = shown[:k], 0
				break
			}
		}
		if rest := len(lines) - len(shown); rest > 0 && left > 0 {
			m.line("| %s | … and %d more, in report.json | |", ledgerTool(name), rest)
		}
		if left -= len(shown); left <= 0 {
			m.line("")
			m.line("… and %s, in report.json.", plural(len(tools)-i-1, "further tool"))
			break
		}
	}
	m.line("")
	m.last("</details>")
	m.last("")
}

// ledgerTool is a tool's name, or that it is outside of calls.
func ledgerTool(name string) string {
	if name == "" {
		return "outside of calls"
	}
	return code(name, 80)
}

// ledgerOf joins the effects of one tool by their kind and what explains them.
func ledgerOf(effects []*finding.Effect, decoys map[string]string) []ledgerLine {
	var out []ledgerLine
	ordinary := 0
	for _, e := range effects {
		kind := slices.IndexFunc(kinds, func(k kindOfEffect) bool { return k.kind == e.Kind })
		if e.Noise != "" && e.Explained != nil || kind < 0 {
			ordinary += max(e.Count, 1)
			continue
		}
		reason := why(e.Explained)
		i := slices.IndexFunc(out, func(l ledgerLine) bool { return l.kind == kind && l.reason == reason })
		if i < 0 {
			i = len(out)
			out = append(out, ledgerLine{kind: kind, reason: reason})
			if e.Explained != nil {
				out[i].rank = 1
			}
		}
		to := objectOf(e, decoys)
		if !slices.Contains(out[i].objects, to) {
			out[i].count++
			if len(out[i].objects) < maxLedgerObjects {
				out[i].objects = append(out[i].objects, to)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b ledgerLine) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.kind, b.kind))
	})
	if ordinary > 0 {
		out = append(out, ledgerLine{kind: -1, reason: "ordinary in any program", count: ordinary})
	}
	return out
}

// did says in words what was done, with some of its objects.
func (l *ledgerLine) did() string {
	if l.kind < 0 {
		return plural(l.count, "event")
	}
	var shown []string
	for _, o := range l.objects {
		shown = append(shown, code(o, 80))
	}
	s := kinds[l.kind].what + " " + strings.Join(shown, ", ")
	if more := l.count - len(shown); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
