package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

func TestAHabitIsToldOnce(t *testing.T) {
	t.Parallel()
	reaches := func(tool, host string, severity finding.Severity) finding.Finding {
		return finding.Finding{Rule: "CM202", Severity: severity, Tool: tool, Message: "“" + tool + "” tried to reach " + host, Fingerprint: tool + host,
			Evidence: []finding.Evidence{{Source: "record", Text: "connected for " + tool}}}
	}
	var few, many []finding.Finding
	for i := range 12 {
		many = append(many, reaches(fmt.Sprintf("tool_%d", i), "a.example", finding.High))
	}
	few = append(few, many[:3]...)
	for _, c := range []struct {
		name string
		list []finding.Finding
		want []int
	}{
		{"few", few, []int{1, 1, 1}},
		{"many", many, []int{12}},
		{"of two hosts", append(many[:4:4], reaches("tool_0", "b.example", finding.High), reaches("tool_1", "b.example", finding.High)), []int{4, 1, 1}},
		{"of two weights", append(many[:4:4], reaches("tool_0", "a.example", finding.Low)), []int{4, 1}},
		{"of no tool", []finding.Finding{{Message: "a"}, {Message: "a"}, {Message: "a"}, {Message: "a"}}, []int{1, 1, 1, 1}},
	} {
		var got []int
		list := habits(c.list)
		for i := range list {
			got = append(got, 1+len(list[i].others))
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) || told(list) != len(c.list) {
			t.Errorf("%s: findings are told as %v, want %v", c.name, got, c.want)
		}
	}
	res := &analyze.Result{Findings: many, Verdict: analyze.Findings}
	for name, write := range map[string]func(w *strings.Builder) error{
		"text":     func(w *strings.Builder) error { return Text(w, res, TextOptions{}) },
		"markdown": func(w *strings.Builder) error { return Markdown(w, res) },
	} {
		var b strings.Builder
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "tried to reach a.example"); n == 0 || n > 2 || !strings.Contains(b.String(), "and 3 tools more") {
			t.Errorf("%s tells the habit %d times:\n%s", name, n, b.String())
		}
	}
}
