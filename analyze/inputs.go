package analyze

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The files of a target's directory that the judge reads beside the logs.
const (
	InputsFile = "judge.json"
	AuditFile  = "audit.json"
	ShrunkFile = "shrunk.json"
)

// InputsSchema is the version of InputsFile.
const InputsSchema = "coalmine/judge/v1"

// Inputs are what a judgement depends on beside what was seen. They are kept with the
// run, so that it can be judged again without the files that they came from.
type Inputs struct {
	Schema string `json:"schema"`
	// FailOn is the threshold asked for, "" for none.
	FailOn finding.Severity `json:"failOn,omitempty"`
	// Policy and Baseline are the user's files, nil for none.
	Policy   *File `json:"policy,omitempty"`
	Baseline *File `json:"baseline,omitempty"`
	// PolicyRules are the files of rules that the policy names, and Rules those that were
	// named beside it.
	PolicyRules []File `json:"policyRules,omitempty"`
	Rules       []File `json:"rules,omitempty"`
	// Changed are files by which the run would be judged and that the change under
	// review has otherwise.
	Changed []rules.Changed `json:"changed,omitempty"`
	// Earlier are what the server declared and did before: --since and --lock.
	Earlier []*Earlier `json:"earlier,omitempty"`
	// Least asks for the result's least policy.
	Least bool `json:"least,omitempty"`
	// Location is the file that a reviewer opens for a finding of the run, and
	// AuditRoot the audited directory as a reviewer would write it.
	Location  finding.Location `json:"location"`
	AuditRoot string           `json:"auditRoot"`
	// Out is the target's directory as it was named, for commands that name it again.
	Out string `json:"out"`
	// Shown is what of the host the run showed to the server.
	Shown []session.Shown `json:"shown,omitempty"`
	// AuditError says why there is no audit though there should be one, "" otherwise.
	AuditError string `json:"auditError,omitempty"`
}

// File is a file of the user's, as it was read.
type File = custom.File

// Shrunk says how far a finding was made small.
type Shrunk struct {
	Fingerprint string `json:"fingerprint"`
	// Replay is the name of the file with the calls.
	Replay string `json:"replay"`
	// Shown of Tried fresh starts showed the finding again.
	Shown int `json:"shown"`
	Tried int `json:"tried"`
	// Without is another tool after whose calls the finding comes without its own, "" for none.
	Without string `json:"without,omitempty"`
}

// maxInputs bounds each of the files, in bytes.
const maxInputsFile = 64 << 20

// writeJSON writes a value as a file of the directory.
func writeJSON(out session.Output, name string, v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return out.WriteBytes(name, b.Bytes())
}

// readJSON reads a value from a file of the directory; there is none where it says so.
func readJSON(dir *os.Root, name string, v any) (there bool, err error) {
	data, err := session.ReadFile(dir, name, maxInputsFile)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return false, fmt.Errorf("read %s: %w", name, err)
	}
	return true, nil
}

// WriteInputs keeps what the judgement of a target depends on, and the audit's report
// where there is one.
func WriteInputs(out session.Output, in Inputs, report *audit.Report) error {
	in.Schema = InputsSchema
	if err := writeJSON(out, InputsFile, in); err != nil {
		return err
	}
	if report == nil {
		return removeFile(out.Root, AuditFile)
	}
	return writeJSON(out, AuditFile, report)
}

// WriteShrunk keeps how far the findings of a target were made small.
func WriteShrunk(out session.Output, list []Shrunk) error {
	if len(list) == 0 {
		return removeFile(out.Root, ShrunkFile)
	}
	return writeJSON(out, ShrunkFile, list)
}

func removeFile(dir *os.Root, name string) error {
	if err := dir.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove an earlier %s: %w", name, err)
	}
	return nil
}

// ReadInputs reads what WriteInputs wrote.
func ReadInputs(dir *os.Root) (*Inputs, error) {
	in := &Inputs{}
	there, err := readJSON(dir, InputsFile, in)
	switch {
	case err != nil:
		return nil, err
	case !there:
		return nil, fmt.Errorf("%w: there is no %s", ErrNoLog, InputsFile)
	case in.Schema != InputsSchema:
		return nil, fmt.Errorf("read %s: its schema is %.40q; this version reads %q", InputsFile, in.Schema, InputsSchema)
	}
	return in, nil
}
