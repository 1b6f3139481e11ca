package attest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

// The types that a statement of ours has.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://github.com/coalmine-dev/coalmine/verdict/v1"
	// PayloadType is that of the envelope.
	PayloadType = "application/vnd.in-toto+json"
)

// Statement is an in-toto statement about one target.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Verdict   `json:"predicate"`
}

// Subject is what a statement is about.
type Subject struct {
	Name string `json:"name"`
	// Digest maps algorithms to hex digits; ours have "sha256" alone.
	Digest map[string]string `json:"digest"`
}

// Verdict is what a probe came to, and how much it tried.
type Verdict struct {
	// Version is the target's own, "" where it has none.
	Version string `json:"version,omitempty"`
	// Coalmine is the program that judged: its rules are the rules.
	Coalmine Program `json:"coalmine"`
	// JudgedBy is the digest of the user's own files by which the run was judged.
	JudgedBy string      `json:"judgedBy"`
	Budget   plan.Effort `json:"budget"`
	// Verdict is "clean", "findings" or "inconclusive"; Findings counts by severity.
	Verdict  string         `json:"verdict"`
	Findings map[string]int `json:"findings,omitempty"`
	// Report is the digest of report.json, "sha256:…".
	Report string `json:"report"`
	// Ran is when the run began, Judged when the statement was made; it is nothing after Expires.
	Ran     time.Time `json:"ran"`
	Judged  time.Time `json:"judged"`
	Expires time.Time `json:"expires"`
}

// Program is a build of coalmine.
type Program struct {
	Version string `json:"version"`
	// Digest is that of the executable, "sha256:…".
	Digest string `json:"digest"`
}

// New makes a statement about a target.
func New(target *plan.Content, v Verdict) (*Statement, error) {
	sum, ok := strings.CutPrefix(target.Digest, "sha256:")
	if !ok || !isSum(sum) {
		return nil, fmt.Errorf("the target %.80q has no digest: %.200s", target.Name, target.Unknown)
	}
	v.Version, v.Budget = target.Version, target.Effort
	return &Statement{Type: StatementType, Subject: []Subject{{Name: target.Name, Digest: map[string]string{"sha256": sum}}}, PredicateType: PredicateType, Predicate: v}, nil
}

// Digest is the target's, as plan.Content has it.
func (s *Statement) Digest() string { return "sha256:" + s.Subject[0].Digest["sha256"] }

// decode reads the text of a statement and refuses what is not whole.
func decode(data []byte) (*Statement, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	s := &Statement{}
	if err := d.Decode(s); err != nil {
		return nil, fmt.Errorf("read the statement: %w", err)
	}
	p := &s.Predicate
	switch {
	case s.Type != StatementType:
		return nil, fmt.Errorf("its type is %.80q, not %s", s.Type, StatementType)
	case s.PredicateType != PredicateType:
		return nil, fmt.Errorf("its predicate is %.80q, not %s", s.PredicateType, PredicateType)
	case len(s.Subject) != 1 || !isSum(s.Subject[0].Digest["sha256"]):
		return nil, errors.New("it does not name one subject by its SHA-256")
	case p.Verdict == "" || p.JudgedBy == "" || p.Coalmine.Version == "" || p.Coalmine.Digest == "" || p.Report == "":
		return nil, errors.New("it leaves out the verdict, the report, the program, or what the run was judged by")
	case p.Ran.IsZero() || p.Judged.IsZero() || p.Expires.IsZero():
		return nil, errors.New("it has no time at which it was made, or at which it ends")
	}
	return s, nil
}

// isSum reports whether a text is a SHA-256 in lower-case hex digits.
func isSum(text string) bool {
	data, err := hex.DecodeString(text)
	return err == nil && len(data) == 32 && text == strings.ToLower(text)
}
