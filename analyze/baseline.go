package analyze

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// BaselineSchema is the version of a baseline's file.
const BaselineSchema = "coalmine/baseline/v1"

// Baseline are findings that were known before, each of one target: only others decide.
type Baseline struct {
	// File is the baseline's name as it was given.
	File string
	// Source is the text that it was read from.
	Source []byte
	known  map[[2]string]bool
}

// baselineFile is a baseline as it is written.
type baselineFile struct {
	Schema   string          `json:"schema"`
	Findings []baselineEntry `json:"findings"`
}

type baselineEntry struct {
	Target      string           `json:"target"`
	Fingerprint string           `json:"fingerprint"`
	Rule        string           `json:"rule"`
	Severity    finding.Severity `json:"severity"`
	Message     string           `json:"message"`
}

var wholeFingerprint = lazyregexp.New(`^[0-9a-f]{32}$`)

// maxBaseline bounds a baseline's entries.
const maxBaseline = 100_000

// ParseBaseline reads a baseline's file. Errors name it.
func ParseBaseline(name string, data []byte) (*Baseline, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	var f baselineFile
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case d.More():
		return nil, fmt.Errorf("%s: something follows the baseline", name)
	case f.Schema != BaselineSchema:
		return nil, fmt.Errorf("%s: its schema is no %s", name, BaselineSchema)
	case len(f.Findings) > maxBaseline:
		return nil, fmt.Errorf("%s: more than %d findings", name, maxBaseline)
	}
	b := &Baseline{File: name, Source: data, known: map[[2]string]bool{}}
	for i, e := range f.Findings {
		if !wholeFingerprint.MatchString(e.Fingerprint) {
			return nil, fmt.Errorf("%s: finding %d: its fingerprint is not 32 hexadecimal digits, as report.json has them", name, i+1)
		}
		b.known[[2]string{e.Target, e.Fingerprint}] = true
	}
	return b, nil
}

// WriteBaseline makes a baseline's file of the findings of report.json files, the
// audits' and those that an earlier baseline knew included. The same reports give
// the same bytes in any order.
func WriteBaseline(reports [][]byte) ([]byte, error) {
	f := baselineFile{Schema: BaselineSchema, Findings: []baselineEntry{}}
	for _, data := range reports {
		var res Result
		if err := json.Unmarshal(data, &res); err != nil {
			return nil, fmt.Errorf("read a report: %w", err)
		}
		if res.Schema != Schema {
			return nil, errors.New("read a report: its schema is no " + Schema)
		}
		for _, g := range res.All() {
			f.Findings = append(f.Findings, baselineEntry{res.Run.Target, g.Fingerprint, g.Rule, g.Severity, g.Message})
		}
		if res.Baseline != nil {
			for _, k := range res.Baseline.Known {
				f.Findings = append(f.Findings, baselineEntry{res.Run.Target, k.Fingerprint, k.Rule, k.Severity, k.Message})
			}
		}
	}
	slices.SortFunc(f.Findings, func(a, b baselineEntry) int {
		return cmp.Or(cmp.Compare(a.Target, b.Target), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Fingerprint, b.Fingerprint), cmp.Compare(a.Message, b.Message))
	})
	f.Findings = slices.CompactFunc(f.Findings, func(a, b baselineEntry) bool { return a.Target == b.Target && a.Fingerprint == b.Fingerprint })
	out, err := json.MarshalIndent(f, "", "  ")
	return append(out, '\n'), err
}

// Compared is what a baseline made of a run.
type Compared struct {
	// File is the baseline's name as it was given.
	File string `json:"file"`
	// Known are the findings that stand in it; they are in no other list.
	Known []Known `json:"known"`
}

// Known is a finding in short, as one that decides nothing is listed.
type Known struct {
	Rule        string           `json:"rule"`
	Severity    finding.Severity `json:"severity"`
	Message     string           `json:"message"`
	Tool        string           `json:"tool,omitempty"`
	Fingerprint string           `json:"fingerprint"`
	// PreviousFingerprints are as in finding.Finding.
	PreviousFingerprints []string `json:"previousFingerprints,omitempty"`
}

func known(f *finding.Finding) Known {
	return Known{Rule: f.Rule, Severity: f.Severity, Message: f.Message, Tool: f.Tool, Fingerprint: f.Fingerprint, PreviousFingerprints: f.PreviousFingerprints}
}

// compare takes the findings out that the baseline knows.
func (res *Result) compare(b *Baseline) {
	if b == nil {
		return
	}
	res.Baseline = &Compared{File: b.File, Known: []Known{}}
	res.without(func(f *finding.Finding) bool {
		is := slices.ContainsFunc(f.Fingerprints(), func(p string) bool { return b.known[[2]string{res.Run.Target, p}] })
		if is {
			res.Baseline.Known = append(res.Baseline.Known, known(f))
		}
		return is
	})
}

// without takes the findings out that drop is true of, the audit's too. What the
// result shares with others is left as it is.
func (res *Result) without(drop func(*finding.Finding) bool) {
	keep := func(fs []finding.Finding) []finding.Finding {
		out := []finding.Finding{}
		for i := range fs {
			if !drop(&fs[i]) {
				out = append(out, fs[i])
			}
		}
		return out
	}
	res.Findings = keep(res.Findings)
	if res.Audit != nil {
		audited := *res.Audit
		audited.Findings = keep(audited.Findings)
		res.Audit = &audited
	}
}
