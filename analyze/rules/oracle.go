package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// hits returns the effects of the declared arguments' inputs of one oracle.
func (r *Run) hits(oracle string) []*profile.Hit {
	var out []*profile.Hit
	for i := range r.Profile.Hits {
		if h := &r.Profile.Hits[i]; h.Oracle == oracle && !h.Undeclared {
			out = append(out, h)
		}
	}
	return out
}

// proven is a finding from a hit.
func (r *Run) proven(doc *finding.Rule, h *profile.Hit, message string) finding.Finding {
	tool := r.toolOf(h.Call)
	f := finding.Finding{
		Rule: doc.ID, Severity: doc.Severity, Title: doc.Title, Message: message, Tool: tool, Call: h.Call, Phase: finding.PhaseCall,
		Confidence: finding.Certain, Evidence: []finding.Evidence{h.Evidence},
		Fingerprint: finding.Fingerprint(doc.ID, tool, h.At),
	}
	return f
}

func (r *Run) toolOf(call int) string {
	if c := r.callOf(call); c != nil {
		return c.Tool
	}
	return ""
}

// callOf is the call of a number, nil for none.
func (r *Run) callOf(call int) *profile.Call {
	calls := r.Profile.Calls
	if call <= 0 {
		return nil
	}
	if i := call - 1; i < len(calls) && calls[i].N == call { // as a rule they are numbered without gaps
		return &calls[i]
	}
	if i := slices.IndexFunc(calls, func(c profile.Call) bool { return c.N == call }); i >= 0 {
		return &calls[i]
	}
	return nil
}

// injected is a call's first input of an oracle, nil for none.
func (r *Run) injected(call int, oracle string) *session.Injection {
	c := r.callOf(call)
	if c == nil {
		return nil
	}
	if i := slices.IndexFunc(c.Oracles, func(in session.Injection) bool { return in.Oracle == oracle }); i >= 0 {
		return &c.Oracles[i]
	}
	return nil
}

// argument is the name of the top-level argument that a pointer leads to.
func argument(at string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(at, "/"), "/")
	return session.UnescapePointer(name)
}

// nested is the name of the argument itself that a pointer leads to, as
// scope.Tool names one within another.
func nested(at string) string {
	var names []string
	for part := range strings.SplitSeq(strings.TrimPrefix(at, "/"), "/") {
		if _, err := strconv.Atoi(part); err != nil {
			names = append(names, session.UnescapePointer(part))
		}
	}
	return strings.Join(names, ".")
}

// among reports whether a pointer leads to one of some named arguments, or into it.
func among(names []string, at string) bool {
	return slices.Contains(names, argument(at)) || slices.Contains(names, nested(at))
}

// runsCommands reports whether it is the tool's declared purpose to run what
// this argument holds.
func runsCommands(t *scope.Tool, at string) bool {
	return len(t.Shell) > 0 || len(t.Code) > 0 || among(t.Commands, at)
}

// aboutOne joins the findings of one place, whatever the variants that reached it,
// and names the others.
func aboutOne(fs []finding.Finding, contexts []string) []finding.Finding {
	also := map[string][]string{}
	for i, f := range fs {
		if !slices.Contains(also[f.Fingerprint], contexts[i]) {
			also[f.Fingerprint] = append(also[f.Fingerprint], contexts[i])
		}
	}
	out := first(fs)
	for i := range out {
		if names := also[out[i].Fingerprint]; len(names) > 1 {
			out[i].Message += " (" + plural(len(names), "variant") + ": " + list(names, 4) + ")"
		}
	}
	return out
}

// quoted is a hit's tool and argument for a message.
func (r *Run) quoted(h *profile.Hit) string {
	return "argument “" + nested(h.At) + "” of “" + r.toolOf(h.Call) + "”"
}

// did says in words what a hit did.
func did(h *profile.Hit) string {
	switch h.How {
	case profile.HitExec:
		return "started a program"
	case profile.HitCreate:
		return "created a file"
	case profile.HitAsked:
		return "triggered a request"
	case profile.HitReturn:
		return "the answer has its result"
	}
	return "had an effect"
}
