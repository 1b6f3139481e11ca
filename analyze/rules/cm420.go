package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm420 = Rule{Rule: cm420Doc, Check: checkCM420}

var cm420Doc = finding.Rule{
	ID: "CM420", Name: "LinkCarriesData", Title: "Data exfiltration through an image or a link", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "A client that renders the image sends the data without a click.", Fix: "Return images as content, not as URLs, and never put user data into URLs."},
	CWE:    []string{"CWE-200", "CWE-201"}, OWASP: []string{"MCP06", "MCP10"},
	Help: "An answer holds an image (Markdown or HTML) whose address carries what a call was given, or leaves a place for a model to fill with what was said: a client that shows the image sends it. A link, which somebody has to follow, counts where it carries the data encoded (base64, hexadecimal), and is medium; an image is high.\n\n" +
		"**Evidence.** The address's host and the argument's place in the answer. A tool that declares the network or takes addresses, and a host that the arguments or the declaration name, are quiet.\n\n" +
		"**False positive when** the tool's purpose is to make such an image, and its description does not say that another server draws it.",
}

// Link is an address in what the server answered; its Text is the host.
type Link struct {
	Fact
	// Image says that a client loads it by itself.
	Image bool
	// How says how it carries data: "as it is", "in base64", "in hexadecimal", or
	// "open" for a place that is still to be filled.
	How string
}

func checkCM420(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, l := range r.Wire.Links {
		t := r.Scope.Tool(l.Tool)
		if len(t.Network) > 0 || len(t.URLs) > 0 || len(r.Scope.Purpose.Network) > 0 || r.namesPeer(l.Text) {
			continue
		}
		what := "a link"
		if l.Image {
			what = "an image"
		}
		says := "carries call arguments " + l.How
		if l.How == "open" {
			says = "has a placeholder for conversation data"
		}
		whose := "a response"
		if l.Tool != "" {
			whose = "the response of “" + text.Printable(l.Tool, 80) + "”"
		}
		severity := cm420Doc.Severity
		if l.Image {
			severity = finding.High
		}
		fact := l.Fact
		fact.Text = whose + " contains " + what + " from " + text.Printable(l.Text, 120) + " whose URL " + says
		out = append(out, finding.Finding{
			Rule: cm420Doc.ID, Severity: severity, Title: cm420Doc.Title, Confidence: finding.Probable, Tool: l.Tool, Call: l.Call, Phase: finding.PhaseCall,
			Message: fact.Text, Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm420Doc.ID, l.Tool, l.Text, l.How),
		})
	}
	return first(out)
}

// namesHost reports whether a declaration names a host.
func (r *Run) namesHost(host string) bool {
	for _, d := range r.texts() {
		if strings.Contains(strings.ToLower(d.text), strings.ToLower(host)) {
			return true
		}
	}
	return false
}
