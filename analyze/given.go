package analyze

import (
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// secretName is a variable that holds a secret by its name; leastSecret is the shortest value
// that is told from chance.
var secretName = regexp.MustCompile(`(?i)(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|CREDENTIALS?|AUTH)(?:_|$)`)

const leastSecret = 10

// followed are what is looked for in a run beside its decoys: the secrets that the user gave
// the server (--env), and the first account of every system's /etc/passwd.
func followed(h *session.Header) []canaries.Canary {
	out := []canaries.Canary{{ID: "accounts", Kind: rules.KindAccounts, Value: "root:x:0:0:root:/root:"}}
	for _, kv := range h.Dummies {
		name, value, _ := strings.Cut(kv, "=")
		known := slices.ContainsFunc(h.Canaries, func(c canaries.Canary) bool { return c.Value == value })
		if !known && len(value) >= leastSecret && secretName.MatchString(name) && !strings.ContainsAny(value, " \t\n") {
			out = append(out, canaries.Canary{ID: "given " + name, Kind: rules.KindGiven, Value: value, Env: name})
		}
	}
	return out
}
