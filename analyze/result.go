package analyze

import (
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Schema is the version of a Result's JSON form. Within it members are only added.
const Schema = "coalmine/report/v1"

// Verdict is the answer of a run.
type Verdict string

// The verdicts.
const (
	// Clean: everything was looked at, and nothing of weight differs.
	Clean Verdict = "clean"
	// Findings: something of medium severity or above, or at the threshold asked for, differs.
	Findings Verdict = "findings"
	// Inconclusive: nothing of weight was seen, but not everything was looked at.
	Inconclusive Verdict = "inconclusive"
)

// Result is report.json.
type Result struct {
	// ended says that the server ended by itself in the run, and harmless that nothing is
	// missed where a further start gets through.
	ended, harmless bool
	// Unaudited says why the audit of the source failed, "" where it did not.
	Unaudited string `json:"-"`
	// keeper has the gaps that the policy accepts.
	keeper gapKeeper
	// sent is what the server was sent, of which its files may hold something.
	sent *detect.Sent
	// kept are the directories that it made.
	kept []profile.Kept
	// needed are the hosts that its tools' answers needed.
	needed []rules.NeededHost

	Schema string `json:"schema"`
	Tool   struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"tool"`
	Run     Run     `json:"run"`
	Server  Server  `json:"server"`
	Verdict Verdict `json:"verdict"`
	// Gaps are the reasons for which something may have gone unseen, Inconclusive
	// their texts.
	Gaps         []session.Gap     `json:"gaps,omitzero"`
	Inconclusive []string          `json:"inconclusive"`
	Coverage     Coverage          `json:"coverage"`
	Declared     scope.Server      `json:"declared"`
	Observed     []finding.Effect  `json:"observed"`
	Findings     []finding.Finding `json:"findings"`
	Audit        *audit.Report     `json:"audit,omitempty"`
	// Shown is what of the host the run showed to the server.
	Shown []session.Shown `json:"shown,omitempty"`
	// Policy says what the user's policy made of the findings, nil without one.
	Policy *Policed `json:"policy,omitempty"`
	// Rules documents the user's own rules, nil where there were none.
	Rules []custom.Doc `json:"rules,omitempty"`
	// Baseline says which findings were known before, nil without a baseline.
	Baseline *Compared `json:"baseline,omitempty"`
	// Least is the least policy under which the run would have been quiet, where
	// Options asked for it.
	Least *policy.Policy `json:"-"`
	// Timelines and Spans are what pictures are drawn from; the log has the rest.
	Timelines []Timeline `json:"-"`
	Spans     []Span     `json:"-"`
	// Decoys names the place of each decoy secret that an effect is about, by its id.
	Decoys map[string]string `json:"-"`
}

// Shows reports whether a finding of this fingerprint is among the run's. One that
// the version before gave a finding counts too.
func (r *Result) Shows(fingerprint string) bool {
	return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return slices.Contains(f.Fingerprints(), fingerprint) })
}

// Run says what was run, and where.
type Run struct {
	ID       string    `json:"id"`
	Seed     int64     `json:"seed"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Sandbox  string    `json:"sandbox"`
	Tracer   string    `json:"tracer"`
	Network  string    `json:"network"`
	Command  []string  `json:"command"`
	// Target names the server across runs: what automation groups by.
	Target string `json:"target"`
	// Reproduce is the command that runs the same again.
	Reproduce string `json:"reproduce,omitempty"`
	// Package is what was fetched to be run, nil for a command that was there.
	Package *session.Package `json:"package,omitempty"`
	// Unredacted says of which variables the real values may stand in reports, and why.
	Unredacted []string `json:"unredacted,omitempty"`
}

// Server is how the server introduced itself.
type Server struct {
	Name     string `json:"name"`
	Version  string `json:"version"`
	Protocol string `json:"protocol"`
	// Exit is how it ended, "" if it did not.
	Exit string `json:"exit,omitempty"`
	// Stderr is the tail of what it printed there, at most 4 KiB, redacted.
	Stderr string `json:"stderr,omitempty"`
}

// Coverage says what was looked at.
type Coverage struct {
	Tools []ToolCoverage `json:"tools"`
	// Records counts the tracer's records, Noise those of them that are ordinary,
	// Lost what was not seen, Opaque the flows whose payload could not be opened.
	Records int   `json:"records"`
	Noise   int   `json:"noise"`
	Lost    int64 `json:"lost"`
	Opaque  int   `json:"opaque"`
	// Unseen names what this sandbox cannot see.
	Unseen []string `json:"unseen"`
	// Reached are the allowed hosts that were really reached, or in vain, by the
	// word of the process that dialled.
	Reached []string `json:"reached,omitempty"`
	// Phases are those that were reached, in order.
	Phases []finding.Phase `json:"phases"`
	// Unreached are phases of every run that this one did not come to.
	Unreached []finding.Phase `json:"unreached,omitempty"`
	// Reach tells the tools apart that were not looked at, nil where all were.
	Reach *Reach `json:"reach,omitempty"`
	// Needs are what the server says it lacks.
	Needs []Need `json:"needs,omitempty"`
	// MadeUp are the variables that had made-up values: the server did not start without them.
	MadeUp []string `json:"-"`
	// Accepted are the hosts whose traffic could not be read and that the policy accepts.
	Accepted []string `json:"accepted,omitempty"`
	// Code says which of the server's own code ran, nil where no run recorded it.
	Code *coverage.Report `json:"code,omitempty"`
}

// ToolCoverage counts the calls of one tool, resource or prompt.
type ToolCoverage struct {
	Name string `json:"name"`
	// What is "tool", "resource", "prompt" or "completion".
	What     string `json:"what"`
	Calls    int    `json:"calls"`
	OK       int    `json:"ok"`
	Errors   int    `json:"errors"`
	Timeouts int    `json:"timeouts"`
	// Inputs is what the arguments have reached of a tool's schema, nil where
	// the run did not count it.
	Inputs *session.Inputs `json:"inputs,omitempty"`
	// Oracles counts the calls beside these that carried an oracle's input.
	Oracles int `json:"oracles,omitempty"`
}

// AtLeast counts the findings of a severity or above, the audit's included.
func (r *Result) AtLeast(s finding.Severity) int {
	n := 0
	for _, f := range r.All() {
		if f.Severity.Rank() >= s.Rank() {
			n++
		}
	}
	return n
}

// All returns the run's findings and then the audit's.
func (r *Result) All() []finding.Finding {
	out := append([]finding.Finding(nil), r.Findings...)
	if r.Audit != nil {
		out = append(out, r.Audit.Findings...)
	}
	return out
}
