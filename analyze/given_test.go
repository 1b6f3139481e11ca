package analyze

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A secret whose value the log does not hold is followed by what stands in its place, where that
// can be nothing else.
func TestPassed(t *testing.T) {
	for name, c := range map[string]struct {
		given []string
		want  string
	}{
		"a secret":            {[]string{"API_KEY=[passed]", "REGION=eu"}, "API_KEY"},
		"two":                 {[]string{"API_KEY=[passed]", "DB_PASSWORD=[passed]"}, "API_KEY or $DB_PASSWORD"},
		"the id of a key":     {[]string{"ACCESS_KEY_ID=[passed]", "SECRET_ACCESS_KEY=[passed]"}, ""},
		"in the log":          {[]string{"API_KEY=0123456789abcdef"}, ""},
		"no secret was given": {[]string{"REGION=[passed]"}, ""},
	} {
		got := passed(&session.Header{Dummies: c.given})
		if (got == nil) != (c.want == "") || got != nil && got.Env != c.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The machine's ID is looked for where the sandbox made it up, and not in a log that has no run:
// the digest of nothing stands in many requests.
func TestMachineIDIsTheSandboxesOwn(t *testing.T) {
	for _, c := range []struct {
		header session.Header
		want   bool
	}{
		{session.Header{RunID: "0123456789abcdef", Sandbox: "local"}, true},
		{session.Header{RunID: "0123456789abcdef", Sandbox: "docker"}, false},
		{session.Header{Sandbox: "local"}, false},
		{session.Header{}, false},
	} {
		got := slices.ContainsFunc(followed(&c.header), func(f canaries.Canary) bool { return f.Kind == rules.KindMachine })
		if got != c.want {
			t.Errorf("%s, run %q: %v", c.header.Sandbox, c.header.RunID, got)
		}
	}
}
