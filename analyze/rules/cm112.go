package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm112 = Rule{Rule: cm112Doc, Check: checkCM112}

var cm112Doc = finding.Rule{
	ID: "CM112", Name: "AccountsOut", Title: "Account list or machine ID exposed", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "The list of accounts helps an attacker choose a target, and the machine's ID tells its user from all others.", Fix: "Do not read /etc/passwd and /etc/machine-id. Ask the operating system only for the current user, and draw an ID of your own for counts."},
	CWE:    []string{"CWE-200"}, OWASP: []string{"MCP01"},
	Help: "The contents of `/etc/passwd` appeared in a response, on stderr or in network traffic, raw or encoded. No argument asked for that file, and the tool's declaration has nothing to do with accounts.\n\n" +
		"**Evidence.** The first account's line, in the frame or the flow. Sent to the network it is critical.\n\n" +
		"The ID in `/etc/machine-id` is high where it was sent to the network, and no declaration speaks of the machine, of a device or of a fingerprint. machine-id(5) asks programs to keep it to themselves.\n\n" +
		"**False positive when** the tool's description speaks of users in words that the rule does not know.",
}

// KindAccounts is the kind of what stands in /etc/passwd, and KindGiven that of a secret that
// the user gave the server. They are followed as decoys are, but are not decoys.
const (
	KindAccounts = "accounts"
	KindGiven    = "given"
	// KindMachine is the kind of the ID in /etc/machine-id.
	KindMachine = "machine"
)

// ofMachine reports whether a kind is that of what any program of the machine may read.
func ofMachine(kind string) bool { return kind == KindAccounts || kind == KindMachine }

// identityWords are those of a declaration by which the machine's ID may leave it.
var identityWords = []string{"machine", "machines", "device", "devices", "hardware", "fingerprint", "fingerprints", "inventory", "asset", "assets", "licence", "license"}

// accountWords are those of a tool that deals with accounts.
var accountWords = []string{"account", "accounts", "user", "users", "passwd", "uid", "login", "logins", "nss"}

func checkCM112(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		t := r.Scope.Tool(e.Tool)
		switch kind := r.Canaries[e.Target].Kind; {
		case !ofMachine(kind) || runsCommands(&t, ""):
		case kind == KindMachine && e.Rung == finding.RungLeft && !r.says(e.Tool, identityWords):
			f := r.of(&cm112Doc, e, subject(e)+" sent the machine's ID (/etc/machine-id) to "+e.Host+" over "+e.Via)
			f.Fingerprint = finding.Fingerprint(cm112Doc.ID, e.Tool, KindMachine, e.Host)
			out = append(out, f)
		case kind == KindAccounts && e.Rung.Rank() >= finding.RungReturned.Rank() && e.Via != viaFile && !r.asked(e.Call, "passwd") && !slices.ContainsFunc(accountWords, t.Says):
			f := r.of(&cm112Doc, e, subject(e)+" returned the contents of /etc/passwd")
			if e.Rung == finding.RungLeft {
				f.Severity, f.Message = finding.Critical, subject(e)+" sent the contents of /etc/passwd to "+e.Host+" over "+e.Via
			}
			f.Fingerprint = finding.Fingerprint(cm112Doc.ID, e.Tool, string(e.Rung), e.Host)
			out = append(out, f)
		}
	}
	return first(out)
}
