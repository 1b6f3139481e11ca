package rules

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm601 = Rule{Rule: cm601Doc, Check: checkCM601, Shrink: ShrinkFresh, Ended: true}

var cm601Doc = finding.Rule{
	ID: "CM601", Name: "Crash", Title: "Server exited during the run", Severity: finding.Medium, Family: finding.FamilyRobustness,
	Advice: finding.Advice{Why: "The client loses the server and the state of the session.", Fix: "Catch the error, and return a JSON-RPC error or a result with isError."},
	CWE:    []string{"CWE-248", "CWE-755"}, OWASP: []string{"MCP02"},
	Help: "The server's process exited while coalmine still had calls to make.\n\n" +
		"**Evidence.** Its exit status or signal and the call in which it happened; the tail of its stderr is in the log. A server that ends before any call with the word that a key or a setting is missing has not crashed; the run is inconclusive.\n\n" +
		"It is low where no call can be named, where the call was for a tool that nobody declared or for one that declares to run whatever it is handed (its caller can end the server anyway), where the call needed a program that the sandbox does not have, and where the sandbox's network had answered in place of a service whose address no argument carries: its real answers may never do that. A server that ends at its start, with a status of its own, mostly lacks something.\n\n" +
		"A tool that declares to end or to restart the server, and ended it with status 0, did so: no finding. **False positive when** a declaration says so in words that the lexicon does not know.",
}

func checkCM601(r *Run) []finding.Finding {
	greeted := r.Profile.Phases[finding.PhaseList] || r.Profile.Phases[finding.PhaseCall]
	if !r.End.Crashed || r.End.Lacking || r.endsAsDeclared() {
		return nil
	}
	f := finding.Finding{
		Rule: cm601Doc.ID, Severity: cm601Doc.Severity, Title: cm601Doc.Title, Confidence: finding.Certain,
		Evidence: facts([]Fact{{Time: r.End.Time, Text: "the server exited: " + r.End.How()}}),
	}
	for _, c := range r.Profile.Calls {
		if c.Outcome == session.OutcomeCrash {
			f.Tool, f.Call, f.Phase = c.Tool, c.N, finding.PhaseCall
			break
		}
	}
	f.Message = "the server exited unexpectedly (" + r.End.How() + ")"
	if f.Tool != "" && (!r.declaredTool(f.Tool) || r.runsAnything(f.Tool)) || f.Tool == "" && (greeted || r.End.WithStatus()) {
		f.Severity = finding.Low
	}
	if f.Tool != "" {
		f.Message = "“" + f.Tool + "” made the server exit (" + r.End.How() + ")"
		if names := r.Profile.Absent(func(call int) bool { return call == f.Call }); len(names) > 0 {
			f.Severity = finding.Low
			f.Message += "; it needs a program that the sandbox lacks: " + list(names, 3)
		}
		if asked := r.Profile.Asked[f.Call]; len(asked) > 0 && len(r.Scope.Tool(f.Tool).URLs) == 0 {
			f.Severity = finding.Low
			f.Message += "; the sandbox had answered in place of " + list(asked, 3)
		}
	}
	f.Fingerprint = finding.Fingerprint("CM601", f.Tool)
	return []finding.Finding{f}
}

// endsSoon is how long after its answer a tool may end the server.
const endsSoon = 3 * time.Second

// EndsHarmlessly reports whether the end of the server kept nothing from being looked at: a
// tool that declares to end it did so with status 0, or a call did of a tool that nobody
// declared or that declares to run whatever it is handed. The others are called in a further start.
func (r *Run) EndsHarmlessly() bool {
	if !r.End.Crashed {
		return false
	}
	return r.endsAsDeclared() || slices.ContainsFunc(r.Profile.Calls, func(c profile.Call) bool {
		return c.Outcome == session.OutcomeCrash && (c.Undeclared() || r.runsAnything(c.Tool))
	})
}

// runsAnything reports whether a tool declares to run the commands or the code that it is handed.
func (r *Run) runsAnything(tool string) bool {
	t := r.Scope.Tool(tool)
	return len(t.Shell) > 0 || len(t.Code) > 0
}

// endsAsDeclared reports whether the server ended, with status 0, in a call of a tool that
// declares to end it or soon after its answer.
func (r *Run) endsAsDeclared() bool {
	return r.End.WithStatus() && r.End.Code == 0 && slices.ContainsFunc(r.Profile.Calls, func(c profile.Call) bool {
		t := r.Scope.Tool(c.Tool)
		return t.DeclaresEnd() && c.Start <= r.End.Time && (c.End == 0 || r.End.Time < c.End+endsSoon)
	})
}
