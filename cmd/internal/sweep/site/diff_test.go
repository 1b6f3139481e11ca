package site

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
)

// Two versions differ in what they do, where both are known.
func TestCompareBehaviours(t *testing.T) {
	t.Parallel()
	entry := func(version string, behaviours []string) *store.Entry {
		return &store.Entry{Name: "a", Result: store.Result{Key: "npm:a", Version: version, Verdict: "clean", Behaviours: behaviours}}
	}
	for name, c := range map[string]struct {
		was, is []string
		want    string
	}{
		"new":      {[]string{}, []string{"connects to a.test", "runs curl"}, "npm:a: 1 clean -> 2 clean\n  + it now connects to a.test\n  + it now runs curl\n1 server differs\n"},
		"gone":     {[]string{"listens on a port", "runs git"}, []string{"runs git"}, "npm:a: 1 clean -> 2 clean\n  - it no longer listens on a port\n1 server differs\n"},
		"the same": {[]string{"runs git"}, []string{"runs git"}, "no server differs\n"},
		"unknown":  {nil, []string{"runs git"}, "no server differs\n"},
		"escaped":  {[]string{}, []string{"runs \x1b[2J"}, "npm:a: 1 clean -> 2 clean\n  + it now runs \\u{1B}[2J\n1 server differs\n"},
	} {
		var list []Change
		if change, ok := Compare(entry("1", c.was), entry("2", c.is)); ok {
			list = append(list, change)
		}
		if diff := cmp.Diff(c.want, Text(list)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
