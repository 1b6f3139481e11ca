package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit"
)

// AuditScore is the score of an audit with its grade, or why there is none or no full one.
func AuditScore(a *audit.Report) string {
	switch {
	case a.Ungraded != "":
		return "no score: " + Clean(a.Ungraded, 200)
	case a.Capped != "":
		return fmt.Sprintf("score %d (%s), no more since %s", a.Score, a.Grade, Clean(a.Capped, 200))
	}
	return fmt.Sprintf("score %d (%s)", a.Score, a.Grade)
}

// AuditRead says how many files were parsed, of which languages, and how much of the code that is: a
// score says no more than what was looked at.
func AuditRead(p *audit.Profile) string {
	var list []string
	n := 0
	for _, l := range slices.Sorted(maps.Keys(p.Languages)) {
		list = append(list, fmt.Sprintf("%s %d", Clean(l, 40), p.Languages[l]))
		n += p.Languages[l]
	}
	switch {
	case p.Depth == "text":
		return "searched as text" // by a version that parsed nothing
	case n == 0:
		return "coalmine parses none of their languages"
	}
	if p.Unread > 0 {
		list = append(list, plural(p.Unread, "part")+" not read")
	}
	out := fmt.Sprintf("%d parsed (%s)", n, strings.Join(list, ", "))
	if p.CodeBytes > 0 {
		out += fmt.Sprintf(", %d%% of the code's bytes", p.ParsedShare())
	}
	return out
}

// AuditNotRead says, a line for each kind, what is code that coalmine has no parser for.
func AuditNotRead(a *audit.Report) (out []string) {
	for _, k := range a.NotRead {
		ending := Clean(k.Ending, 40)
		if ending == "" {
			ending = "programs without an ending"
		}
		out = append(out, fmt.Sprintf("%s of %s, %d bytes, such as %s", plural(k.Files, "file"), ending, k.Bytes, Clean(k.Example, 200)))
	}
	return out
}
