package custom

import (
	"strings"

	"cel.dev/cel-go/cel"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
)

// Doc is what reports say of a rule of the user's own.
type Doc struct {
	ID       string           `json:"id"`
	Name     string           `json:"name"`
	Severity finding.Severity `json:"severity"`
	// Over is what the rule looks at.
	Over       Collection `json:"over"`
	Help       string     `json:"help,omitempty"`
	References []string   `json:"references,omitempty"`
	Tags       []string   `json:"tags,omitempty"`
}

// Rule is the documentation in the form that coalmine's own rules have.
func (d *Doc) Rule() finding.Rule {
	var name strings.Builder
	for word := range strings.FieldsFuncSeq(d.Name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		name.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	help := d.Help
	if help == "" {
		help = "A rule of the user's own."
	}
	return finding.Rule{ID: d.ID, Family: finding.FamilyOwn, Name: name.String(), Title: d.Name, Severity: d.Severity, Help: help}
}

// Rule is one rule of the user's own, ready to run. It does not change, so it may be used
// from many goroutines.
type Rule struct {
	Doc
	// File and At say where the rule stands.
	File string
	At   yamldoc.Position
	when cel.Program
	text []piece
	// examples are entries that the rule must speak of, and must not.
	match, noMatch []example
}

// piece is a part of a rule's text: words of its own, or a member of the entry.
type piece struct {
	words  string
	member cel.Program // nil for words
}

// example is an entry of the rule's file.
type example struct {
	at    yamldoc.Position
	entry any // a pointer to a struct of the ledger
}

// Set are the rules of one judgement. A nil Set has none. It may be used from many goroutines.
type Set struct{ Rules []*Rule }

// Docs are the rules' documentation, in their order.
func (s *Set) Docs() []Doc {
	if s == nil {
		return nil
	}
	out := make([]Doc, 0, len(s.Rules))
	for _, r := range s.Rules {
		out = append(out, r.Doc)
	}
	return out
}
