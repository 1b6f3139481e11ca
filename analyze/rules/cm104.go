package rules

import "github.com/coalmine-dev/coalmine/analyze/finding"

var cm104 = Rule{Rule: cm104Doc, Check: checkCM104}

var cm104Doc = finding.Rule{
	ID: "CM104", Name: "EnvironmentSecretOut", Title: "Environment secret exposed", Severity: finding.High, Family: finding.FamilySecrets,
	Advice: finding.Advice{Why: "Environment variables often hold credentials, and results reach the model and logs.", Fix: "Pass child processes only the variables that they need, and never print the environment."},
	CWE:    []string{"CWE-526", "CWE-200"}, OWASP: []string{"MCP01"},
	Help: "The value of a decoy environment variable, or of a secret that the user passed (`--env`), appeared in a message of the server, on its stderr or in the arguments of a program that it ran.\n\n" +
		"**Evidence.** No system call shows a read of the environment, so the value is proof where it comes out.\n\n" +
		"A tool that declares to return the environment may return it, and so may one that declares to run the command that it is given, where the call's command prints the environment: no finding. **False positive when** a declaration says so in words that the lexicon does not know.",
}

func checkCM104(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Secret) {
		c, ok := r.Canaries[e.Target]
		if !ok || c.Env == "" || c.Kind == KindGiven && e.Rung == finding.RungRead || e.Rung == finding.RungLeft || e.Via == viaFile { // which others tell
			continue
		}
		t := r.Scope.Tool(e.Tool)
		if returnsEnvironment(&t) || r.orderedEnvironment(e, c) {
			continue
		}
		f := r.of(&cm104Doc, e, subject(e)+" exposed the secret of "+r.secretLocation(e.Target))
		if r.dealsWith(c, e.Tool) && e.Rung == finding.RungRead {
			f.Severity = finding.Info
		}
		out = append(out, f)
	}
	return first(out)
}
