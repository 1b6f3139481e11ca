package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// The elements of JUnit's XML as Jenkins, GitLab and others read them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Stamp    string      `xml:"timestamp,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class    string       `xml:"classname,attr"`
		Name     string       `xml:"name,attr"`
		Skipped  *junitText   `xml:"skipped,omitempty"`
		Errors   []junitText  `xml:"error,omitempty"`
		Failures []junitText  `xml:"failure,omitempty"`
		Out      *junitOutput `xml:"system-out,omitempty"`
	}
	junitText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
	junitOutput struct {
		Text string `xml:",chardata"`
	}
)

// The bounds of a suite; report.json has the rest.
const (
	maxJUnitCases = 10_000
	maxJUnitEach  = 100
)

// JUnit writes each result as a suite: a case for each tool, resource and prompt,
// one for what happened outside calls, one for what was not seen, and one for the
// source. A finding of medium severity or above is a failure, a lower one output;
// what was not seen is an error, and a tool that was never called is skipped.
func JUnit(w io.Writer, results ...*analyze.Result) error {
	doc := junitSuites{Name: "coalmine"}
	var took time.Duration
	for _, res := range results {
		s := suiteOf(res)
		doc.Tests, doc.Failures, doc.Errors, doc.Skipped = doc.Tests+s.Tests, doc.Failures+s.Failures, doc.Errors+s.Errors, doc.Skipped+s.Skipped
		doc.Suites = append(doc.Suites, s)
		took += res.Run.Finished.Sub(res.Run.Started)
	}
	doc.Time = fmt.Sprintf("%.3f", took.Seconds())
	raw, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return fmt.Errorf("encode JUnit: %w", err)
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, raw)
	return err
}

func suiteOf(res *analyze.Result) junitSuite {
	s := junitSuite{
		Name: Escape(res.Run.Target, 200), Stamp: res.Run.Started.UTC().Format("2006-01-02T15:04:05"),
		Time: fmt.Sprintf("%.3f", res.Run.Finished.Sub(res.Run.Started).Seconds()),
	}
	s.cases(res)
	for _, c := range s.Cases {
		s.Tests++
		switch {
		case len(c.Errors) > 0:
			s.Errors++
		case len(c.Failures) > 0:
			s.Failures++
		case c.Skipped != nil:
			s.Skipped++
		}
	}
	return s
}

// The names of the cases that are no tool's.
const (
	caseOutside = "outside any call"
	caseSeen    = "complete coverage"
	caseSource  = "source audit"
)

func (s *junitSuite) cases(res *analyze.Result) {
	index := map[string]int{}
	add := func(key, class, name string) int {
		if i, ok := index[key]; ok {
			return i
		}
		index[key] = len(s.Cases)
		s.Cases = append(s.Cases, junitCase{Class: Escape(s.Name, 200) + "." + class, Name: name})
		return index[key]
	}
	for _, t := range res.Coverage.Tools[:min(len(res.Coverage.Tools), maxJUnitCases)] {
		i := add("tool "+t.Name, Escape(t.What, 20), Escape(t.Name, 200))
		if t.Calls == 0 {
			s.Cases[i].Skipped = &junitText{Message: "never called"}
		}
	}
	add(caseOutside, "run", caseOutside)
	seen := add(caseSeen, "run", caseSeen)
	for _, r := range res.Inconclusive[:min(len(res.Inconclusive), maxJUnitEach)] {
		s.Cases[seen].Errors = append(s.Cases[seen].Errors, junitText{Message: Clean(r, 400), Type: "inconclusive"})
	}
	if res.Audit != nil {
		add(caseSource, "source", caseSource)
	}
	for _, f := range sorted(res) {
		i := index[caseOutside]
		switch {
		case f.Phase == finding.PhaseStatic:
			i = add(caseSource, "source", caseSource)
		case f.Tool != "":
			i = add("tool "+f.Tool, "tool", Escape(f.Tool, 200))
		}
		s.Cases[i].finding(&f)
	}
}

func (c *junitCase) finding(f *finding.Finding) {
	if f.Severity.Rank() < finding.Medium.Rank() {
		if c.Out == nil {
			c.Out = &junitOutput{}
		}
		if len(c.Out.Text) < 16<<10 {
			c.Out.Text += fmt.Sprintf("%s %s: %s\n", f.Severity, Escape(f.Rule, 60), Clean(f.Message, 400))
		}
		return
	}
	if len(c.Failures) >= maxJUnitEach {
		return
	}
	var b strings.Builder
	for _, e := range f.Evidence[:min(len(f.Evidence), maxMarkdownEvidence)] {
		fmt.Fprintf(&b, "%s: %s\n", locationOf(&e), Clean(e.Text, 240))
	}
	if f.Reproduce != "" {
		fmt.Fprintf(&b, "reproduce: %s\n", command(f.Reproduce))
	}
	c.Failures = append(c.Failures, junitText{Message: Clean(f.Message, 400), Type: Escape(f.Rule, 60) + " " + string(f.Severity), Text: b.String()})
}
