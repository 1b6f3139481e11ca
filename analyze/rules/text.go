package rules

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
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
	owner, tool, place, text string
}

// texts lists all texts of the surface.
func (r *Run) texts() []declaredText {
	s := r.Surface
	out := []declaredText{
		{"the server", "", "name", s.Server.Name}, {"the server", "", "title", s.Server.Title}, {"the server", "", "instructions", s.Instructions},
	}
	for _, t := range s.Tools {
		o := "tool “" + t.Name + "”"
		out = append(out, declaredText{o, t.Name, "name", t.Name}, declaredText{o, t.Name, "title", t.Title}, declaredText{o, t.Name, "description", t.Description},
			declaredText{o, t.Name, "inputSchema", jsonText(t.InputSchema)}, declaredText{o, t.Name, "outputSchema", jsonText(t.OutputSchema)})
		if t.Annotations != nil {
			out = append(out, declaredText{o, t.Name, "annotations.title", t.Annotations.Title})
		}
	}
	for _, x := range s.Resources {
		o := "resource “" + x.Name + "”"
		out = append(out, declaredText{o, x.Name, "name", x.Name}, declaredText{o, x.Name, "title", x.Title}, declaredText{o, x.Name, "description", x.Description}, declaredText{o, x.Name, "uri", x.URI})
	}
	for _, x := range s.Templates {
		o := "template “" + x.Name + "”"
		out = append(out, declaredText{o, x.Name, "name", x.Name}, declaredText{o, x.Name, "title", x.Title}, declaredText{o, x.Name, "description", x.Description})
	}
	for _, x := range s.Prompts {
		o := "prompt “" + x.Name + "”"
		out = append(out, declaredText{o, x.Name, "name", x.Name}, declaredText{o, x.Name, "title", x.Title}, declaredText{o, x.Name, "description", x.Description})
		for _, a := range x.Arguments {
			out = append(out, declaredText{o, x.Name, "argument", a.Name + "\n" + a.Description})
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
	for _, d := range r.texts() {
		for _, h := range text.Scan(d.text) {
			if h.Rule != rule {
				continue
			}
			out = append(out, finding.Finding{
				Rule: doc.ID, Severity: doc.Severity, Title: doc.Title, Confidence: finding.Certain, Tool: d.tool, Phase: finding.PhaseList,
				Message:     d.owner + ": its " + d.place + " " + says,
				Evidence:    []finding.Evidence{{Source: "frame", Text: d.place + ": " + h.Text}},
				Fingerprint: finding.Fingerprint(doc.ID, d.owner, d.place),
			})
			break
		}
	}
	return first(append(out, r.declaredElsewhere(doc, out)...))
}

// declaredElsewhere is what the detectors of the wire found in declarations beside what
// was told: in later listings, and in members that texts does not list.
func (r *Run) declaredElsewhere(doc *finding.Rule, told []finding.Finding) []finding.Finding {
	have := map[string]bool{}
	for _, f := range told {
		owner, _, _ := strings.Cut(f.Message, ": its ")
		place, words, _ := strings.Cut(f.Evidence[0].Text, ": ")
		have[owner+"\x00"+words] = true
		have[owner+"\x00"+memberOf(place)+"\x00"] = true
	}
	var out []finding.Finding
	for _, d := range r.Wire.Detected {
		if at := d.Declared; d.Rule == doc.ID && at != nil && !have[at.Owner+"\x00"+at.Words] && !have[at.Owner+"\x00"+at.Place+"\x00"] {
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
