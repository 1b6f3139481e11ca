package analyze

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// secretName is a variable that holds a secret by its name; leastSecret is the shortest value
// that is told from chance.
var secretName = lazyregexp.New(`(?i)(?:^|_)(?:API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|CREDENTIALS?|AUTH)(?:_|$)`)

const leastSecret = 10

// publicName is a variable that names a secret, and holds none: the id of a key stands in each
// address that was signed with it.
var publicName = lazyregexp.New(`(?i)_(?:ID|NAME|FILE|PATH|URL|HOST|USER)$|PUBLIC`)

// isSecret reports whether a variable holds a secret by its name.
func isSecret(name string) bool { return secretName.MatchString(name) && !publicName.MatchString(name) }

// followed are what is looked for in a run beside its decoys: the secrets that the user gave
// the server (--env), the first account of every system's /etc/passwd, and the machine's ID.
func followed(h *session.Header) []canaries.Canary {
	out := []canaries.Canary{{ID: "accounts", Kind: rules.KindAccounts, Value: "root:x:0:0:root:/root:"}}
	if h.Sandbox == "local" && h.RunID != "" { // others have no ID of this run's
		out = append(out, canaries.Canary{ID: "machine", Kind: rules.KindMachine, Value: session.MachineID(h.RunID)})
	}
	for _, kv := range h.Dummies {
		name, value, _ := strings.Cut(kv, "=")
		if value == canaries.Passed {
			continue // its value is in no log: passed tells it
		}
		known := slices.ContainsFunc(h.Canaries, func(c canaries.Canary) bool { return c.Value == value })
		if !known && len(value) >= leastSecret && isSecret(name) && !strings.ContainsAny(value, " \t\n") {
			out = append(out, canaries.Canary{ID: "given " + name, Kind: rules.KindGiven, Value: value, Env: name})
		}
	}
	return out
}

// passed stands for the secrets that the user gave the server and of which the log holds
// canaries.Passed in place of the value, nil for none and where it may stand for something else:
// which of several it was is not told.
func passed(h *session.Header) *canaries.Canary {
	var names []string
	for _, kv := range h.Dummies {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value != canaries.Passed:
		case !isSecret(name):
			return nil // what stands in the log may be this one
		default:
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &canaries.Canary{ID: "given " + names[0], Kind: rules.KindGiven, Env: strings.Join(names, " or $")}
}
