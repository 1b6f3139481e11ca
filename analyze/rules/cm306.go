package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm306 = Rule{Rule: cm306Doc, Check: checkCM306, NeedsControl: true}

var cm306Doc = finding.Rule{
	ID: "CM306", Name: "UndeclaredTool", Title: "Hidden tool", Severity: finding.Medium, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Nobody reviews a tool that tools/list does not show.", Fix: "List the tool, or reject calls of tools that are not in the list.", Preview: true},
	CWE:    []string{"CWE-912"}, OWASP: []string{"MCP03"},
	Help: "The server answered a call of a tool that is not in tools/list with a result, although it rejects a call of a tool name that no server has. Or it answers that name and most others alike, and this one differently. Nobody reviews what nobody lists. The finding is high where undeclared arguments had an effect, and low for names that every JavaScript object has.\n\n" +
		"**Evidence.** The two calls and their outcomes in `session.jsonl`.\n\n" +
		"**False positive when** the tool is listed only to some clients.",
}

// inherited are the members that every object of JavaScript has: who looks a tool up in an
// object finds them, and serves nothing that somebody hid.
var inherited = []string{"constructor", "toString", "toLocaleString", "valueOf", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__"}

// Inherited lists the names that every object of JavaScript has, where a name is one of
// them: what one of them does to a server, the others do too. It is nil for any other name.
func Inherited(name string) []string {
	if !slices.Contains(inherited, name) {
		return nil
	}
	return slices.Clone(inherited)
}

func checkCM306(r *Run) []finding.Finding {
	served := r.servesUndeclared()
	if served == nil {
		return nil
	}
	var out []finding.Finding
	for i := range r.Profile.Calls {
		c := &r.Profile.Calls[i]
		if !carries(c, session.OracleTool) || r.declaredTool(c.Tool) {
			continue
		}
		hit := slices.IndexFunc(r.Profile.Hits, func(h profile.Hit) bool { return h.Call == c.N })
		if !served(c) && hit < 0 {
			continue
		}
		f := finding.Finding{
			Rule: cm306Doc.ID, Severity: cm306Doc.Severity, Title: cm306Doc.Title, Tool: c.Tool, Call: c.N, Phase: finding.PhaseCall, Confidence: finding.Certain,
			Message:     "“" + c.Tool + "” is not in tools/list but answers calls",
			Evidence:    []finding.Evidence{{Source: "event", Time: c.Start, Text: "the call of “" + c.Tool + "” ended with: " + string(c.Outcome)}},
			Fingerprint: finding.Fingerprint("CM306", c.Tool),
		}
		if slices.Contains(inherited, c.Tool) {
			f.Severity = finding.Low
			f.Message = "the server treats “" + c.Tool + "”, a property of every JavaScript object, as a tool"
		}
		if hit >= 0 {
			h := &r.Profile.Hits[hit]
			f.Severity, f.Evidence = finding.High, append(f.Evidence, h.Evidence)
			f.Message += "; its argument “" + argument(h.At) + "” " + did(h)
		}
		out = append(out, f)
	}
	return first(out)
}

// servesUndeclared tells whether the server serves the undeclared tool of a call: it
// answers with a result and refuses a name that no server has, or it answers every name
// alike, but this one otherwise. It is nil where the control does not tell.
func (r *Run) servesUndeclared() func(c *profile.Call) bool {
	control := -1
	alike, all := 0, 0
	for i := range r.Profile.Calls {
		c := &r.Profile.Calls[i]
		switch {
		case carries(c, session.OracleControl):
			if c.Outcome == session.OutcomeError || c.Outcome == session.OutcomeIsError {
				return func(c *profile.Call) bool { return c.Outcome == session.OutcomeOK }
			}
			if c.Outcome == session.OutcomeOK && control < 0 {
				control = c.N
			}
		case carries(c, session.OracleTool) && control >= 0 && !r.declaredTool(c.Tool):
			all++
			if r.answersAlike(c, control) {
				alike++
			}
		}
	}
	if control < 0 || r.Undeclared[control] == "" || 2*alike < all {
		return nil
	}
	return func(c *profile.Call) bool {
		_, answered := r.Undeclared[c.N]
		return c.Outcome == session.OutcomeOK && answered && !r.answersAlike(c, control)
	}
}

func carries(c *profile.Call, oracle string) bool {
	return slices.ContainsFunc(c.Oracles, func(in session.Injection) bool { return in.Oracle == oracle })
}

// declaredTool reports whether a tool stands in the surface, or came into it later.
func (r *Run) declaredTool(name string) bool {
	for _, t := range r.Surface.Tools {
		if t.Name == name {
			return true
		}
	}
	return slices.ContainsFunc(r.Wire.Changes, func(c ToolChange) bool { return c.What == "" && c.Tool == name })
}

// answersAlike reports whether an undeclared tool answers as the control does, the tool's own
// name left out of both: a name such as "text" stands in many answers.
func (r *Run) answersAlike(c *profile.Call, control int) bool {
	return r.Undeclared[c.N] == strings.ReplaceAll(r.Undeclared[control], c.Tool, "")
}
