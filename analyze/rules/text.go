package rules

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/text/gloss"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// maxEvidence bounds the evidence of one finding; the log has the rest.
const maxEvidence = 20

// facts turns observations of the wire into evidence.
func facts(fs []Fact) []finding.Evidence {
	var out []finding.Evidence
	for _, f := range fs[:min(len(fs), maxEvidence)] {
		e := finding.Evidence{Source: "frame", Seq: f.Seq, Time: f.Time, Text: f.Text}
		if f.Seq == 0 {
			e.Source = "event"
		}
		out = append(out, e)
	}
	return out
}

// list joins at most n names.
func list(names []string, n int) string {
	if len(names) > n {
		return strings.Join(names[:n], ", ") + fmt.Sprintf(" and %d more", len(names)-n)
	}
	return strings.Join(names, ", ")
}

func plural(n int, word string) string { return text.Plural(n, word) }

// declaredText is one text of the surface that a model or a user reads.
type declaredText struct {
	owner       detect.Owner
	place, text string
}

// texts lists all texts of the surface.
func (r *Run) texts() []declaredText {
	m := r.remembered()
	if m.declared == nil {
		m.declared = declaredTexts(r.Surface)
	}
	return m.declared
}

// sentence is one sentence of a declaredText.
type sentence struct {
	declaredText
	lower  string
	denies bool
}

// sentences lists the sentences of all texts of the surface, and in English, too, where they are in another language.
func (r *Run) sentences() []sentence {
	m := r.remembered()
	if m.sentences == nil {
		for _, d := range r.texts() {
			for _, s := range sentenceEnd.Split(gloss.WithEnglish(d.text), -1) {
				m.sentences = append(m.sentences, sentence{declaredText{d.owner, d.place, s}, strings.ToLower(s), denial.MatchString(s)})
			}
		}
	}
	return m.sentences
}

func declaredTexts(s *wire.Surface) []declaredText {
	out := []declaredText{
		{detect.Owner{}, "name", s.Server.Name}, {detect.Owner{}, "title", s.Server.Title}, {detect.Owner{}, "instructions", s.Instructions},
	}
	for _, t := range s.Tools {
		o := detect.Owner{Kind: detect.OwnerTool, Name: t.Name}
		out = append(out, declaredText{o, "name", t.Name}, declaredText{o, "title", t.Title}, declaredText{o, "description", t.Description},
			declaredText{o, "inputSchema", jsonText(t.InputSchema)}, declaredText{o, "outputSchema", jsonText(t.OutputSchema)})
		if t.Annotations != nil {
			out = append(out, declaredText{o, "annotations.title", t.Annotations.Title})
		}
	}
	for _, x := range s.Resources {
		o := detect.Owner{Kind: detect.OwnerResource, Name: x.Name}
		out = append(out, declaredText{o, "name", x.Name}, declaredText{o, "title", x.Title}, declaredText{o, "description", x.Description}, declaredText{o, "uri", x.URI})
	}
	for _, x := range s.Templates {
		o := detect.Owner{Kind: detect.OwnerTemplate, Name: x.Name}
		out = append(out, declaredText{o, "name", x.Name}, declaredText{o, "title", x.Title}, declaredText{o, "description", x.Description})
	}
	for _, x := range s.Prompts {
		o := detect.Owner{Kind: detect.OwnerPrompt, Name: x.Name}
		out = append(out, declaredText{o, "name", x.Name}, declaredText{o, "title", x.Title}, declaredText{o, "description", x.Description})
		for _, a := range x.Arguments {
			out = append(out, declaredText{o, "argument", a.Name + "\n" + a.Description})
		}
	}
	return out
}

// jsonText joins the strings of a JSON value, keys included, with their escapes undone.
func jsonText(raw json.RawMessage) string {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	var b strings.Builder
	for {
		t, err := d.Token()
		if err != nil {
			return b.String()
		}
		if s, ok := t.(string); ok {
			b.WriteString(s)
			b.WriteByte('\n')
		}
	}
}

// declared reports what a text rule finds in the surface.
func (r *Run) declared(doc *finding.Rule, rule, says string) []finding.Finding {
	var out []finding.Finding
	have := map[declaredText]bool{}
	for _, d := range r.texts() {
		for _, h := range text.Scan(d.text) {
			if h.Rule != rule {
				continue
			}
			out = append(out, finding.Finding{
				Rule: doc.ID, Severity: doc.Severity, Title: doc.Title, Confidence: finding.Certain, Tool: d.owner.Name, Phase: finding.PhaseList,
				Message:     d.owner.String() + ": its " + d.place + " " + says,
				Evidence:    []finding.Evidence{{Source: "frame", Text: d.place + ": " + h.Text}},
				Fingerprint: finding.Fingerprint(doc.ID, d.owner.String(), d.place),
			})
			have[declaredText{owner: d.owner, text: h.Text}] = true
			have[declaredText{owner: d.owner, place: memberOf(d.place)}] = true
			break
		}
	}
	return first(append(out, r.declaredElsewhere(doc, have)...))
}

// declaredElsewhere is what the detectors of the wire found in declarations beside what
// was told: in later listings, and in members that texts does not list. have are the words that
// were told, without their place, and the members, without words.
func (r *Run) declaredElsewhere(doc *finding.Rule, have map[declaredText]bool) []finding.Finding {
	var out []finding.Finding
	for _, d := range r.Wire.Detected {
		if at := d.Declared; d.Rule == doc.ID && at != nil && !have[declaredText{owner: at.Owner, text: at.Words}] && !have[declaredText{owner: at.Owner, place: at.Place}] {
			f := d.Finding
			f.Phase = finding.PhaseList
			out = append(out, f)
		}
	}
	return out
}

// memberOf is the member of an entry in which a place of texts stands.
func memberOf(place string) string {
	switch place {
	case "annotations.title":
		return "annotations"
	case "argument":
		return "arguments"
	}
	return place
}

// beginning is a text cut to so many characters.
func beginning(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
