package analyze

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

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
