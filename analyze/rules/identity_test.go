package rules

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

func TestOneTargetIsToldOnce(t *testing.T) {
	t.Parallel()
	local := described("format_note", "Formats a note, purely local.")
	connect := func(target string) finding.Effect {
		e := effect(local.Name, finding.NetConnect, target)
		e.Rung = finding.RungOpened
		return e
	}
	asked, reached := connect("dns:collect.example"), connect("collect.example:443")
	listens := func(target string) finding.Effect { return effect(local.Name, finding.NetListen, target) }
	for _, c := range []struct {
		rule    string
		effects []finding.Effect
		want    []string
	}{
		{"CM202", []finding.Effect{asked, reached}, []string{"collect.example:443"}},
		{"CM202", []finding.Effect{reached, asked}, []string{"collect.example:443"}},
		{"CM202", []finding.Effect{asked}, []string{"dns:collect.example"}},
		{"CM202", []finding.Effect{reached, connect("other.example:443")}, []string{"collect.example:443", "other.example:443"}},
		{"CM211", []finding.Effect{listens("0.0.0.0:0"), listens("0.0.0.0:34621")}, []string{"0.0.0.0:0"}},
		{"CM211", []finding.Effect{listens("0.0.0.0:8080"), listens("0.0.0.0:34621")}, []string{"0.0.0.0:8080", "0.0.0.0:34621"}},
	} {
		var got []string
		for _, f := range Check(newRun(local, c.effects...)) {
			if f.Rule == c.rule {
				got = append(got, f.Message)
			}
		}
		ok := len(got) == len(c.want)
		for i := range c.want {
			ok = ok && slices.ContainsFunc(got, func(m string) bool { return len(m) > len(c.want[i]) && m[len(m)-len(c.want[i]):] == c.want[i] })
		}
		if !ok {
			t.Errorf("%s of %+v: %q, want those of %q", c.rule, c.effects, got, c.want)
		}
	}
}
