package report

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// findingView is a finding as a card.
type findingView struct {
	ID                           string
	Rule, Title, Message, Where  string
	Severity                     finding.Severity
	Rungs                        []rungView
	Evidence                     []evidenceView
	More                         int
	Ambiguous                    bool
	Call                         int
	Drawn                        bool
	Fingerprint, Confidence, How string
	Help                         [][]spanView
	// Request is the call with its arguments, Accept the policy's lines.
	Request, Why, Fix, Accept, Tier string
	// Sources are the likely lines of the source, Run what the run shows of one in the source.
	Sources, Run string
	// Same are the same findings of other tools.
	Same       []sameView
	References []referenceView
}

// rungView is a step of the ladder that evidence climbs.
type rungView struct {
	Name    string
	Reached bool
}

type evidenceView struct{ When, Where, Text string }

type sameView struct{ Tool, Text, Where, Fingerprint string }

type referenceView struct{ Name, URL string }

// spanView is a piece of a rule's help.
type spanView struct {
	Text       string
	Bold, Code bool
}

const maxPageEvidence = 12

func (v *pageView) findings(res *analyze.Result) {
	docs := maps.Clone(docs())
	own := map[string][]referenceView{}
	for i := range res.Rules {
		doc := res.Rules[i].Rule()
		docs[doc.ID] = doc
		for _, u := range res.Rules[i].References {
			own[doc.ID] = append(own[doc.ID], referenceView{Escape(u, 200), u})
		}
	}
	drawn := map[int]bool{}
	for _, t := range res.Timelines {
		drawn[t.Call] = true
	}
	all := sorted(res)
	list := habits(all)
	list = list[:min(len(list), maxPageFindings)]
	v.MoreFindings = len(all) - told(list)
	for i := range list {
		f := list[i].Finding
		doc := docs[f.Rule]
		c := findingView{
			ID: fmt.Sprintf("f%d", i+1), Rule: Escape(f.Rule, 60), Title: Escape(f.Title, 200), Message: Escape(capital(f.Message), 500), Severity: f.Severity,
			Rungs: ladder(&doc, f), Ambiguous: f.Confidence == finding.Ambiguous, Call: f.Call, Drawn: f.Call > 0 && drawn[f.Call], Fingerprint: f.Fingerprint, Confidence: string(f.Confidence),
			Help: prose(doc.Help), References: append(references(&doc), own[f.Rule]...),
		}
		if doc.Family == finding.FamilyOwn {
			// Its words are a file's, and are shown as they are.
			c.Help = [][]spanView{{{Text: Escape(doc.Help, 4000)}}}
		}
		a := &doc.Advice
		c.Request, c.Why, c.Fix, c.Accept = request(res, f), a.Why, a.Fix, suppression(res, &list[i])
		if a.Fix != "" {
			c.Tier = a.Tier()
		}
		c.Sources, c.Run = sources(f.Sources), string(f.Run)
		if f.Location != nil {
			c.Where = location(f.Location)
		}
		if f.Generated != nil {
			c.Where += ", read in the bundle " + location(f.Generated)
		}
		if f.Reproduce != res.Run.Reproduce {
			c.How = Escape(f.Reproduce, 2000)
		}
		for _, e := range f.Evidence[:min(len(f.Evidence), maxPageEvidence)] {
			c.Evidence = append(c.Evidence, evidenceView{since(res, e.Time), locationOf(&e), Escape(sunk(res, &e), 440)})
		}
		for _, o := range list[i].others {
			same := sameView{Tool: Escape(o.Tool, 80), Fingerprint: o.Fingerprint}
			if len(o.Evidence) > 0 {
				same.Text, same.Where = Escape(sunk(res, &o.Evidence[0]), 240), locationOf(&o.Evidence[0])
			}
			c.Same = append(c.Same, same)
		}
		c.More = max(0, len(f.Evidence)-maxPageEvidence)
		v.Findings = append(v.Findings, c)
	}
}

// capital makes a sentence of ours begin with a capital letter; a name stays as it is.
func capital(s string) string {
	for _, start := range []string{"the ", "a ", "an ", "argument “", "tool “", "stdout ", "every "} {
		if strings.HasPrefix(s, start) {
			return strings.ToUpper(s[:1]) + s[1:]
		}
	}
	return s
}

// ladder are the rungs that a secret climbs, nothing for what is about none.
func ladder(doc *finding.Rule, f *finding.Finding) []rungView {
	if f.Rung.Rank() == 0 || doc.Family != finding.FamilySecrets {
		return nil
	}
	var out []rungView
	for _, r := range []finding.Rung{finding.RungAttempted, finding.RungOpened, finding.RungRead, finding.RungReturned, finding.RungLeft} {
		// What left by the network need not have been returned on the wire.
		aside := r == finding.RungReturned && f.Rung == finding.RungLeft
		out = append(out, rungView{string(r), r.Rank() <= f.Rung.Rank() && !aside})
	}
	return out
}

func location(l *finding.Location) string {
	if l.Line == 0 {
		return Escape(l.Path, 200)
	}
	return fmt.Sprintf("%s:%d", Escape(l.Path, 200), l.Line)
}

// since is a moment as the time since the server's start, "" where it is not known.
func since(res *analyze.Result, t time.Duration) string {
	if t <= 0 || len(res.Spans) == 0 || t < res.Spans[0].Start {
		return ""
	}
	return duration(t - res.Spans[0].Start)
}

// duration is a length of time with three digits that count.
func duration(d time.Duration) string {
	switch {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%d µs", d.Microseconds())
	}
}

var cweNumber = lazyregexp.New(`^CWE-(\d+)$`)

func references(r *finding.Rule) []referenceView {
	var out []referenceView
	for _, c := range r.CWE {
		if m := cweNumber.FindStringSubmatch(c); m != nil {
			out = append(out, referenceView{c, "https://cwe.mitre.org/data/definitions/" + m[1] + ".html"})
		}
	}
	for _, o := range r.OWASP {
		out = append(out, referenceView{"OWASP MCP Top 10: " + o, ""})
	}
	return out
}

// mark is bold or code in a rule's help.
var mark = lazyregexp.New("\\*\\*([^*]+)\\*\\*|`([^`]+)`|\\*([^*]+)\\*")

// prose cuts a rule's help, which is Markdown of ours, into paragraphs.
func prose(md string) [][]spanView {
	var out [][]spanView
	for _, p := range strings.Split(strings.TrimSpace(md), "\n\n") {
		if p == "" {
			continue
		}
		var spans []spanView
		at := 0
		for _, m := range mark.FindAllStringSubmatchIndex(p, -1) {
			spans = append(spans, spanView{Text: p[at:m[0]]})
			switch {
			case m[2] >= 0:
				spans = append(spans, spanView{Text: p[m[2]:m[3]], Bold: true})
			case m[4] >= 0:
				spans = append(spans, spanView{Text: p[m[4]:m[5]], Code: true})
			default:
				spans = append(spans, spanView{Text: p[m[6]:m[7]]})
			}
			at = m[1]
		}
		out = append(out, append(spans, spanView{Text: p[at:]}))
	}
	return out
}
