package rules

import (
	"net"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Drifted is a declaration that is not as it was in an earlier run. Its Tool is the tool's
// name, "" for the server's instructions; its Text says both versions where they are known.
type Drifted struct {
	Fact
	Kind wire.ChangeKind
	// Members are those of the declaration that differ.
	Members []string
	// Difference is zero where the earlier declaration is known by its hashes alone.
	Difference
	// From names the earlier run or lock.
	From string
}

// Before is what a server did in an earlier run.
type Before struct {
	// From names that run.
	From string
	// Deeds are what DeedOf names.
	Deeds map[string]bool
}

// DeedOf names what a server did so that two runs can be compared in it: a host that it
// reached for, a program, a port that it opened. ok is false for other effects: which files
// are touched follows the inputs, and secrets have rules of their own.
func DeedOf(e *finding.Effect) (deed string, ok bool) {
	if e.Noise != "" {
		return "", false
	}
	switch e.Kind {
	case finding.NetConnect:
		if !leaving(e) {
			return "", false
		}
		host := e.Host
		if host == "" {
			host = peer(e)
		}
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		return "connects to " + strings.ToLower(strings.TrimSuffix(host, ".")), true
	case finding.Exec:
		return "runs " + path.Base(e.Target), true
	case finding.NetListen:
		return "listens on a port", true
	}
	return "", false
}

var cm504 = Rule{Rule: cm504Doc, Check: checkCM504, Shrink: ShrinkNever}

var cm504Doc = finding.Rule{
	ID: "CM504", Name: "DeclarationDrift", Title: "Declaration changed since an earlier run", Severity: finding.High,
	CWE: []string{"CWE-494"}, OWASP: []string{"MCP03", "MCP04"},
	Help: "The server declares something else than in the run of `--since` or the file of `--lock`: a description, title, schema or annotation of a tool, the instructions, a new or a missing tool. A server that is approved once and changes later is known as a rug pull.\n\n" +
		"**Evidence.** The listing in `session.jsonl`, with both texts where the earlier run has them. A change under the same name is high, and low where only the values of an enum, a default or an example differ. A new tool is medium, and high where it changes something or runs commands. A missing tool is low.\n\n" +
		"**False positive when** you updated the server and reviewed the change. Record the new state then (`coalmine lock`).",
}

func checkCM504(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, d := range r.Drifted {
		f := finding.Finding{
			Rule: cm504Doc.ID, Severity: finding.High, Title: cm504Doc.Title, Confidence: finding.Certain, Phase: finding.PhaseList, Tool: d.Tool,
			Fingerprint: finding.Fingerprint(cm504Doc.ID, d.Tool, string(d.Kind), strings.Join(d.Members, ",")),
		}
		what := "tool “" + text.Printable(d.Tool, 80) + "”"
		switch {
		case d.Tool == "":
			f.Message, f.Phase = "the server's instructions changed", finding.PhaseHandshake
		case d.Kind == wire.Appeared:
			f.Message, f.Severity = what+" is new", finding.Medium
		case d.Kind == wire.Disappeared:
			f.Message, f.Severity = what+" is missing", finding.Low
		default:
			f.Message = what + " changed: " + strings.Join(d.Members, ", ")
		}
		if d.Values {
			f.Severity = finding.Low
		}
		f.Message += " since " + text.Printable(d.From, 200)
		if d.More != "" {
			f.Severity = finding.High
			f.Message += " (" + d.More + ")"
		}
		fact := d.Fact
		if fact.Text == "" {
			fact.Text = f.Message
		}
		f.Evidence = facts([]Fact{fact})
		out = append(out, f)
	}
	return first(out)
}

var cm505 = Rule{Rule: cm505Doc, Check: checkCM505, Shrink: ShrinkNever}

var cm505Doc = finding.Rule{
	ID: "CM505", Name: "BehaviourDrift", Title: "Behaviour changed since an earlier run", Severity: finding.Medium,
	CWE: []string{"CWE-494", "CWE-506"}, OWASP: []string{"MCP04"},
	Help: "The server does what it did not do in the run of `--since`: it reaches for another host, runs another program, or opens a port. What an argument of the call names is left out, since inputs differ between seeds. Give both runs the same `--seed`.\n\n" +
		"**Evidence.** The records of the first such effect. It is informational where a declaration or the policy explains the effect.\n\n" +
		"**False positive when** the earlier run was shorter, or had other inputs.",
}

func checkCM505(r *Run) []finding.Finding {
	if r.Before == nil {
		return nil
	}
	var out []finding.Finding
	reasons := Ledger(r)
	for i := range r.Profile.Effects {
		e := &r.Profile.Effects[i]
		deed, ok := DeedOf(e)
		why := reasons[i]
		if !ok || r.Before.Deeds[deed] || why != nil && why.Class == finding.ClassArgument {
			continue
		}
		f := finding.Finding{
			Rule: cm505Doc.ID, Severity: cm505Doc.Severity, Title: cm505Doc.Title, Confidence: finding.Certain, Tool: e.Tool, Call: e.Call, Phase: e.Phase,
			Message:     subject(e) + " " + text.Printable(deed, 200) + ", and did not in " + text.Printable(r.Before.From, 200),
			Evidence:    slices.Clone(e.Evidence),
			Fingerprint: finding.Fingerprint(cm505Doc.ID, deed),
		}
		if why != nil {
			f.Severity = finding.Info
		}
		out = append(out, f)
	}
	return first(out)
}
