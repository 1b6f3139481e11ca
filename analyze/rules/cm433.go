package rules

import (
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

var cm433 = Rule{Rule: cm433Doc, Check: checkCM433}

var cm433Doc = finding.Rule{
	ID: "CM433", Name: "UndeclaredSampling", Title: "Undeclared request to the client's model", Severity: finding.Medium, Family: finding.FamilyWire,
	Advice: finding.Advice{Why: "The request spends what the user pays for, and what it says is put before the model.", Fix: "Say in the tool's description that it asks the client's model, and for what.", Preview: true},
	CWE:    []string{"CWE-400", "CWE-863"}, OWASP: []string{"MCP02", "MCP06"},
	Help: "The server asked the client's model for a text (`sampling/createMessage`), and neither the tool in whose call it did so nor the server says that it works with a model. It is low where the tool says that it writes something new, such as a summary or a translation.\n\n" +
		"**Evidence.** The request, in its frame.\n\n" +
		"**False positive when** the server's documentation, not its declaration, says so.",
}

// modelWords are those by which a declaration says that a model is asked, and writingWords those of work that a model may do.
var (
	modelWords   = append([]string{"sampling", "sample", "ai", "generative"}, promptWords...)
	writingWords = []string{
		"summarize", "summarise", "summarizes", "summary", "summaries", "translate", "translates", "translation", "rewrite", "rewrites", "rephrase", "draft", "drafts", "write", "writes", "generate", "generates", "explain", "explains",
		"describe", "describes", "classify", "classifies", "suggest", "suggests", "review", "reviews", "analyze", "analyse", "analyzes", "answer", "answers", "question", "chat", "extract", "extracts", "brainstorm", "critique", "evaluate",
	}
)

func checkCM433(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, s := range r.Wire.Samplings {
		// CM404 tells of a request that the client did not grant.
		if r.shown(s.Tool, modelWords) || slices.ContainsFunc(r.Wire.Requests, func(q Fact) bool { return q.Seq == s.Seq }) {
			continue
		}
		severity, who := cm433Doc.Severity, "the server"
		if s.Tool != "" {
			who = "“" + s.Tool + "”"
		}
		if t := r.Scope.Tool(s.Tool); slices.ContainsFunc(writingWords, t.Shows) {
			severity = finding.Low
		}
		out = append(out, finding.Finding{
			Rule: cm433Doc.ID, Severity: severity, Title: cm433Doc.Title, Confidence: finding.Certain, Tool: s.Tool, Call: s.Call,
			Message: who + " asked the client's model for a text, which it does not declare", Evidence: facts([]Fact{s}), Fingerprint: finding.Fingerprint(cm433Doc.ID, s.Tool),
		})
	}
	return first(out)
}
