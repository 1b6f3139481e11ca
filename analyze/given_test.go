package analyze

import (
	"testing"

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
