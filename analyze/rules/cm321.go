package rules

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

var cm321 = Rule{Rule: cm321Doc, Check: checkCM321}

var cm321Doc = finding.Rule{
	ID: "CM321", Name: "BrokenEncryption", Title: "Broken encryption", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever gets what was encrypted reads it without the key.", Fix: "Use an authenticated mode of a library with a fresh nonce for each text (AES-GCM, ChaCha20-Poly1305, libsodium's secretbox).", Preview: true},
	CWE:    []string{"CWE-327", "CWE-323", "CWE-311"}, OWASP: []string{"MCP07"},
	Help: "A tool that encrypts was given two texts of four equal blocks. What it answered shows the text itself, equal blocks where the text has some (ECB, or a short key that repeats), or a difference between the two that is the difference of the texts (reuse of a key stream: CWE-323).\n\n" +
		"**Evidence.** The answer, whose hexadecimal digits or base 64 are decoded.\n\n" +
		"**False positive when** the tool declares a cipher of this kind, such as for teaching.",
}

// BrokenCipher is an answer by which an encrypted text can be read; its Text says how.
type BrokenCipher struct {
	Fact
	// At is the JSON pointer of the argument.
	At string
}

// How an encrypted text can be read without the key.
const (
	CipherPlain  = "the text stands in it as it is"
	CipherBlocks = "equal blocks of the text are equal blocks of it"
	CipherStream = "two texts were encrypted with the same key stream"
)

func checkCM321(r *Run) []finding.Finding {
	var out []finding.Finding
	for _, b := range r.Wire.Broken {
		fact := b.Fact
		fact.Text = "the answer: " + b.Text
		out = append(out, finding.Finding{
			Rule: cm321Doc.ID, Severity: cm321Doc.Severity, Title: cm321Doc.Title, Confidence: finding.Certain, Tool: b.Tool, Call: b.Call, Phase: finding.PhaseCall,
			Message:  "what “" + text.Printable(b.Tool, 80) + "” encrypts of argument “" + nested(b.At) + "” can be read without the key: " + b.Text,
			Evidence: facts([]Fact{fact}), Fingerprint: finding.Fingerprint(cm321Doc.ID, b.Tool, b.At),
		})
	}
	return first(out)
}
