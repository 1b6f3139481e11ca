package report

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// habit is a finding, and the same ones of other tools: whoever reads the report reads it once.
type habit struct {
	*finding.Finding
	others []*finding.Finding
}

// leastHabit is how many findings are worth joining.
const leastHabit = 4

// habits joins the findings that differ in their tool alone, where there are many. Each stands where its first
// finding does.
func habits(all []finding.Finding) []habit {
	type gist struct {
		rule     string
		severity finding.Severity
		said     string
	}
	gistOf := func(f *finding.Finding) gist {
		return gist{f.Rule, f.Severity, strings.ReplaceAll(f.Message, "“"+f.Tool+"”", "“”")}
	}
	count, at := map[gist]int{}, map[gist]int{}
	for i := range all {
		count[gistOf(&all[i])]++
	}
	var out []habit
	for i := range all {
		f := &all[i]
		g := gistOf(f)
		if k, ok := at[g]; ok && f.Tool != "" && count[g] >= leastHabit && g.said != f.Message {
			out[k].others = append(out[k].others, f)
			continue
		}
		at[g] = len(out)
		out = append(out, habit{Finding: f})
	}
	return out
}

// maxSame bounds the tools that are named as those of a habit.
const maxSame = 8

// same names the other tools of a habit, "" for none.
func (h *habit) same() string {
	if len(h.others) == 0 {
		return ""
	}
	var names []string
	for _, f := range h.others[:min(len(h.others), maxSame)] {
		names = append(names, "“"+Clean(f.Tool, 80)+"”")
	}
	if more := len(h.others) - len(names); more > 0 {
		return strings.Join(names, ", ") + fmt.Sprintf(" and %s more", plural(more, "tool"))
	}
	return strings.Join(names, ", ")
}

// told counts the findings of habits.
func told(list []habit) (n int) {
	for i := range list {
		n += 1 + len(list[i].others)
	}
	return n
}
