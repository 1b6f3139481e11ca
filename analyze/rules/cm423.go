package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm423 = Rule{Rule: cm423Doc, Check: checkCM423, Observations: []string{"terminal_sequence"}}

var cm423Doc = finding.Rule{
	ID: "CM423", Name: "TerminalSequence", Title: "Control sequence that acts on the terminal", Severity: finding.High, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "Whoever reads the log or the result in a terminal gets another clipboard, a link that lies or input that nobody typed.", Fix: "Write plain text, or colours alone. Escape the control characters of what others wrote.", Preview: true},
	CWE:    []string{"CWE-150", "CWE-116"}, OWASP: []string{"MCP03", "MCP06"},
	Help: "What the server wrote on stderr, which clients show in terminals and logs, or said in a message (result, error, log, declaration, request) holds a control sequence that acts on the terminal beyond colours and the cursor. " +
		"High is what puts a text into the clipboard or reads it (OSC 52), shows one host and leads to another (OSC 8), maps keys, defines macros, runs a program or downloads a file, and a result that shows a line of what the call brought and erases it again. Medium is what the terminal answers as if it was typed, and what changes its settings. Low is a title, a notification, and a question that each program for terminals asks.\n\n" +
		"**Evidence.** What the sequence does, with its text decoded and cut. Colours, moves of the cursor, pictures, progress (OSC 9;4), the working directory (OSC 7), the marks of a shell (OSC 133) and links that show where they lead to are quiet, and what is low in a declaration is CM402's. " +
		"So is what a call brought, where the tool or the server speaks of the clipboard.\n\n" +
		"**False positive when** the tool passes on what another program wrote for a terminal.",
}

// clipboardWords are those of a tool that works with the clipboard.
var clipboardWords = []string{"clipboard", "pasteboard"}

func checkCM423(r *Run) []finding.Finding {
	out := r.detections(cm423Doc.ID, func(d *Detected) bool { return !d.Given || !r.says(d.Tool, clipboardWords) })
	for _, s := range r.Sequences {
		severity := s.Severity
		if s.Kind == detect.ClipboardKind && r.asked(s.Call, s.Payload) {
			if severity = finding.Medium; r.says(s.Tool, clipboardWords) {
				continue
			}
		}
		out = append(out, finding.Finding{
			Rule: cm423Doc.ID, Severity: severity, Title: cm423Doc.Title, Message: subject(&finding.Effect{Tool: s.Tool, Phase: s.Phase}) + ": " + s.Text,
			Tool: s.Tool, Call: s.Call, Phase: s.Phase, Confidence: finding.Certain, Evidence: facts([]Fact{s.Fact}), Fingerprint: finding.Fingerprint(cm423Doc.ID, s.Tool, "stderr", s.Kind),
		})
	}
	return first(out)
}
