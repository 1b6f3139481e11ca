package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

var cm501 = Rule{Rule: cm501Doc, Check: checkCM501, Shrink: ShrinkFresh, FingerprintVersion: 2,
	Observations: []string{"surface_change"}, Annotated: annotatedCM501}

var cm501Doc = finding.Rule{
	ID: "CM501", Name: "SurfaceChanged", Title: "Declaration changed during the session", Severity: finding.Medium, Family: finding.FamilyDrift,
	Advice: finding.Advice{Why: "The user approved another declaration than the one that the model now reads.", Fix: "Keep declarations constant during a session. Announce real changes with notifications/tools/list_changed and document them."},
	CWE:    []string{"CWE-494"}, OWASP: []string{"MCP03"},
	Help: "Between two listings of the same run a declaration changed: a description, a schema, an annotation, a new or a missing tool, prompt or template, another name or text of a resource. The lists are compared with the first as multisets, so that one of two entries of a name counts too. What a user approved is no longer what is offered.\n\n" +
		"**Evidence.** Both listings in `session.jsonl`. A tool that appears or disappears is low, since servers may announce that; another text or schema under the same name is medium, of a resource low. Resources that come and go are content. " +
		"A tool is high where it now allows itself what it ruled out (read-only, harmless, local) or takes commands, and where one joins that changes something or runs commands, unless the server says that its tools change. It is low where only the values differ that an argument may have (an enum that follows the server's data). " +
		"A prompt is high whose messages say all that they said at first and then a sentence more that no call gave the server. " +
		"In a log of somebody's session each is medium. Glassport's name: `surface_change`, severity 2.\n\n" +
		"**False positive when** the change is the declared effect of the call before it.",
}

// ToolChange is an entry that two listings of a run declare otherwise. Its Tool is
// the name of what changed; it has no Text.
type ToolChange struct {
	Fact
	Kind wire.ChangeKind
	// What is "prompt", "template" or "resource", "" for a tool.
	What string
	// Difference is that of a tool's declarations.
	Difference
	// Announced says that the server had said by then that its list of tools changed.
	Announced bool
}

// how says the kinds of change.
var how = map[wire.ChangeKind]string{
	wire.Appeared: "appeared", wire.Disappeared: "disappeared", wire.Redeclared: "changed its declaration",
}

// surfaceChanged is the finding of a change, without its evidence: what reads the
// wire tells changes, and here alone is said what they come to.
func surfaceChanged(c wire.Change) finding.Finding {
	f := finding.Finding{
		Rule: cm501Doc.ID, Severity: cm501Doc.Severity, Title: cm501Doc.Title, Confidence: finding.Certain,
		Message: "tool “" + text.Printable(c.Tool, 80) + "” " + how[c.Kind], Tool: c.Tool,
		Fingerprint: finding.Fingerprint(cm501Doc.ID, c.Tool, string(c.Kind)),
	}
	if c.Kind != wire.Redeclared {
		f.Severity = finding.Low
	}
	return f
}

func checkCM501(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, c := range r.Wire.Changes {
		change := wire.Change{Tool: c.Tool, Kind: c.Kind}
		f := surfaceChanged(change)
		c.Text = f.Message
		f.Call, f.Evidence = c.Call, facts([]Fact{c.Fact})
		r.weigh(&f, &c)
		if c.What == "" {
			f.PreviousFingerprints = []string{previousCM501("tool", change)}
		} else {
			f.Message = c.What + strings.TrimPrefix(f.Message, "tool")
			f.Evidence[0].Text, f.Tool = f.Message, ""
			f.Fingerprint = finding.Fingerprint(cm501Doc.ID, c.What, c.Tool, string(c.Kind))
			f.PreviousFingerprints = []string{previousCM501(c.What, change)}
		}
		if c.What == "resource" {
			f.Severity = finding.Low // it is content, which changes
		}
		out = append(out, f)
	}
	return first(out)
}

// changeWords are those of a server that says that its tools change.
var changeWords = []string{"tools", "toolset", "toolsets", "toolbox", "plugin", "plugins", "extension", "extensions", "dynamic", "dynamically", "unlock", "unlocks", "enable", "enables", "activate", "activates"}

// weigh says how grave a tool's change is: its own data in a schema is low, and what allows
// itself more than a user has seen is high, unless the server says that its tools change.
func (r *Run) weigh(f *finding.Finding, c *ToolChange) {
	said := slices.ContainsFunc(changeWords, func(w string) bool {
		return r.Scope.Purpose.Says(w) || slices.ContainsFunc(r.Scope.Tools, func(t scope.Tool) bool { return t.Says(w) })
	})
	switch {
	case c.Added != "":
		f.Severity = finding.High
		f.Message = "tool “" + text.Printable(c.Tool, 80) + "” says more than it did at first: “" + text.Printable(c.Added, 160) + "”"
	case c.What != "":
	case c.Values:
		f.Severity = finding.Low
	case c.More != "" && (c.Kind == wire.Redeclared || !said && !r.hasGrave(c.More)):
		f.Severity = finding.High
		f.Message += " (" + c.More + ")"
	case c.Kind == wire.Redeclared && said && c.Announced:
		f.Severity = finding.Low
	}
}

// hasGrave reports whether a tool of the first listing does what is said of a later one. No
// tool makes one that runs commands ordinary.
func (r *Run) hasGrave(what string) bool {
	return what != gravest && slices.ContainsFunc(r.Scope.Tools, func(t scope.Tool) bool { return grave(&t) != "" })
}

// annotatedCM501 makes a finding of each change that an annotation of a log names.
func annotatedCM501(a *detect.Annotation) []finding.Finding {
	var out []finding.Finding
	for _, c := range a.Changes {
		f := surfaceChanged(c)
		f.Severity, f.Tool = severityOf(a), text.Printable(c.Tool, 120)
		f.Evidence = annotationAt(a, f.Message)
		f.PreviousFingerprints = []string{annotationPrint(cm501Doc.ID, a)}
		out = append(out, f)
	}
	return out
}

// previousCM501 is a run's fingerprint of version 1, which hashed the message. Its
// words stay as they are, whatever a message says.
func previousCM501(what string, c wire.Change) string {
	words := map[wire.ChangeKind]string{
		wire.Appeared: "appeared", wire.Disappeared: "disappeared", wire.Redeclared: "was declared otherwise than before",
	}
	return finding.Fingerprint(cm501Doc.ID, c.Tool, what+" “"+text.Printable(c.Tool, 80)+"” "+words[c.Kind])
}
