package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/canaries"
)

// IndexFile names, in a target's directory, the file that lists its runs.
const IndexFile = "index.json"

// IndexSchema is the index file's version.
const IndexSchema = "coalmine/index/v1"

// Role is how the judge takes the log of a run.
type Role string

// The roles.
const (
	// RoleDeclared: the server as it was declared. There is one, in the directory itself.
	RoleDeclared Role = "declared"
	// RoleBuild: the package's own scripts, before the server's first start.
	RoleBuild Role = "build"
	// RoleTraced: the same calls under the other tracer, to be compared.
	RoleTraced Role = "traced"
	// RoleVaried: the same calls under a condition or, as a control, under none.
	RoleVaried Role = "varied"
	// RoleRestart: started again without tools in whose calls the server ended: it
	// covers what the declared run did not come to.
	RoleRestart Role = "restart"
	// RoleFurther: one more start that the declared run gave reason for.
	RoleFurther Role = "further"
	// RoleCoverage: the same calls while the server's own processes record which of its
	// code runs. It can see that, so of its log nothing is judged.
	RoleCoverage Role = "coverage"
	// RoleHelper: a program that served the probe, and no server. Of its log nothing is judged.
	RoleHelper Role = "helper"
)

// HelperDirs are where, below HOME, the programs lie that such a run plants beside the server:
// what records which code runs, what moves its clock, and what names another operating system.
var HelperDirs = []string{".local/share/record", ".local/lib/clock", ".local/lib/system"}

// Roles are all of them, in the order in which a judge takes them.
var Roles = []Role{RoleDeclared, RoleBuild, RoleTraced, RoleVaried, RoleRestart, RoleFurther, RoleCoverage, RoleHelper}

// Index lists the runs of one target.
type Index struct {
	Schema string       `json:"schema"`
	Runs   []IndexedRun `json:"runs"`
}

// IndexedRun is one run of a target.
type IndexedRun struct {
	Role Role `json:"role"`
	// Experiment is the name of the experiment that made the run.
	Experiment string `json:"experiment"`
	// Dir is the run's directory below the target's, "." for the target's own.
	Dir string `json:"dir"`
	// How says in words what is different in this run ("in a second start with the
	// same HOME"); evidence from its log begins with it.
	How string `json:"how,omitempty"`
	// Optional says that what could not be looked at in this run is no reason for
	// doubt: the declared run was looked at whole.
	Optional bool `json:"optional,omitempty"`
	// Timers says that work in a call may be a timer's: on the run's fast clock a call takes minutes.
	Timers bool `json:"timers,omitempty"`
	// OneTool says that the run was made for one tool, and the others were not to be called.
	OneTool bool `json:"one_tool,omitempty"`
	// Supplies says that the server had what it lacked in the declared run.
	Supplies bool `json:"supplies,omitempty"`
	// Recorded says that programs of coalmine's ran within the server's own processes. What they read and write is
	// not judged.
	Recorded bool `json:"recorded,omitempty"`
	// Failed says why the run could not be made, "" where it was.
	Failed string `json:"failed,omitempty"`
}

// maxIndex bounds an index file, in bytes, maxRuns the runs that it lists.
const (
	maxIndex = 4 << 20
	maxRuns  = 1000
)

// Output is a run's directory as it is written. It is the only writer of a run's
// files, so that no real value reaches any of them.
type Output struct {
	Root *os.Root
	// Redactor takes out the values that the user passed to the server, nil for none.
	Redactor *canaries.Redactor
}

// WriteIndex writes a target's index.
func (o Output) WriteIndex(runs []IndexedRun) error {
	if runs == nil {
		runs = []IndexedRun{}
	}
	data, err := json.MarshalIndent(Index{Schema: IndexSchema, Runs: runs}, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", IndexFile, err)
	}
	return o.WriteBytes(IndexFile, append(data, '\n'))
}

// ReadIndex reads a target's index. Directories that lead out of the target's, and
// roles that are unknown, are errors.
func ReadIndex(dir *os.Root) (*Index, error) {
	data, err := ReadFile(dir, IndexFile, maxIndex)
	if err != nil {
		return nil, err
	}
	return DecodeIndex(data)
}

// DecodeIndex reads the text of an index.
func DecodeIndex(data []byte) (*Index, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	x := &Index{}
	if err := d.Decode(x); err != nil {
		return nil, fmt.Errorf("read %s: %w", IndexFile, err)
	}
	if x.Schema != IndexSchema {
		return nil, fmt.Errorf("read %s: its schema is %.40q; this version reads %q", IndexFile, x.Schema, IndexSchema)
	}
	if len(x.Runs) > maxRuns {
		return nil, fmt.Errorf("read %s: more than %d runs", IndexFile, maxRuns)
	}
	for i := range x.Runs {
		r := &x.Runs[i]
		r.complete()
		if !slices.Contains(Roles, r.Role) {
			return nil, fmt.Errorf("read %s: the role %.40q is not known", IndexFile, r.Role)
		}
		if !fs.ValidPath(r.Dir) || path.Clean(r.Dir) != r.Dir || (r.Dir == ".") != (r.Role == RoleDeclared) {
			return nil, fmt.Errorf("read %s: %.80q is not a directory of a run in the role %s", IndexFile, r.Dir, r.Role)
		}
	}
	return x, nil
}

// complete adds what the indexes of earlier versions say by the experiment's name alone.
func (r *IndexedRun) complete() {
	r.Timers = r.Timers || r.Role == RoleFurther && r.Experiment == "alone"
	r.Recorded = r.Recorded || r.Timers
	r.OneTool = r.OneTool || r.Role == RoleFurther && r.Experiment == "crashing"
}

// WriteFile writes one file of a run, mode 0600, in place of a regular file of that
// name. Anything else of that name, a link above all, is an error. Passed values are
// taken out: of the strings of a JSON text, which any but HTML and Markdown has to be.
func (o Output) WriteFile(name string, write func(io.Writer) error) error {
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return o.WriteBytes(name, b.Bytes())
}

// WriteBytes is WriteFile for a text that is there.
func (o Output) WriteBytes(name string, data []byte) (err error) {
	if ext := path.Ext(name); ext == ".html" || ext == ".md" {
		data = []byte(o.Redactor.Redact(string(data)))
	} else {
		data = jsonRedactor{Redactor: o.Redactor}.document(data)
	}
	if info, err := o.Root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return errTaken(name, info)
		}
		if err := o.Root.Remove(name); err != nil {
			return err
		}
	}
	f, err := o.Root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// ReadFile reads one file of a run, of at most so many bytes. What is no regular
// file, a link above all, is an error.
func ReadFile(dir *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenFile(dir, name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: it is longer than %d bytes", name, limit)
	}
	return data, nil
}
