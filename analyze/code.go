package analyze

import (
	"fmt"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// CoverageFile says in a target's directory which of the server's own code ran.
const CoverageFile = "coverage.json"

// WriteCoverage keeps which of a server's own code ran, nil for nothing known.
func WriteCoverage(out session.Output, r *coverage.Report) error {
	if r == nil {
		return removeFile(out.Root, CoverageFile)
	}
	return writeJSON(out, CoverageFile, r)
}

// maxCode bounds the functions that a result lists.
const maxCode = 100

// code adds to a result which of the server's own code ran. What could do harm, never ran, and
// is on a way from a handler or the start is a reason for doubt.
func (d *Directory) code(res *Result) error {
	r := &coverage.Report{}
	there, err := readJSON(d.dir, CoverageFile, r)
	if err != nil || !there {
		return err
	}
	if r.Schema != coverage.Schema {
		return fmt.Errorf("read %s: its schema is %.40q; this version reads %q", CoverageFile, r.Schema, coverage.Schema)
	}
	if extra := len(r.Unrun) - maxCode; extra > 0 {
		r.Unrun, r.More = r.Unrun[:maxCode], r.More+extra
	}
	r.Unrecorded = text.Printable(r.Unrecorded, 200)
	for i := range r.Untold {
		r.Untold[i] = text.Printable(r.Untold[i], 200)
	}
	res.Coverage.Code = r
	if r.Unrecorded != "" {
		Doubt(res, session.Gap{Code: session.GapCodeNotRecorded, Text: "the code coverage of the server is unknown: " + r.Unrecorded}, d.opts)
	}
	if r.Unread > 0 && r.Unrecorded == "" {
		Doubt(res, session.Gap{Code: session.GapCodeNotRecorded, Text: fmt.Sprintf("the code coverage leaves out %s of the program: too large or too many", text.Plural(r.Unread, "function"))}, d.opts)
	}
	doubts := 0
	for i := range r.Unrun {
		u := &r.Unrun[i]
		u.File, u.Name, u.Tool = text.Printable(u.File, 200), text.Printable(u.Name, 120), text.Printable(u.Tool, 120)
		if !u.Weighs || u.Way == "" || u.Owner == coverage.Unknown {
			continue
		}
		if a, ok := d.opts.Policy.AcceptsUnrun(u.Place(), res.Run.Started); ok {
			u.Accepted = text.Printable(a.Reason, 200)
			continue
		}
		if doubts++; doubts <= maxNamed {
			Doubt(res, unrunGap(u), d.opts)
		}
		if res.Least != nil {
			res.Least.AcceptUnrun = append(res.Least.AcceptUnrun, policy.Acceptance{
				Function: u.Place(), Reason: "say here why this is accepted", Expires: res.Run.Started.UTC().Truncate(24 * time.Hour).Add(leastHolds),
			})
		}
	}
	if doubts > maxNamed {
		Doubt(res, session.Gap{Code: session.GapCodeNotRun, Text: fmt.Sprintf("%d more risky functions never ran", doubts-maxNamed)}, d.opts)
	}
	return nil
}

func unrunGap(u *coverage.Unrun) session.Gap {
	g := session.Gap{Code: session.GapCodeNotRun, Tool: u.Tool, Text: unrunText(u)}
	if u.Way == "tool" {
		g.Phase = string(finding.PhaseCall)
	}
	return g
}

// unrunText says which code never ran, and what it does: "steal, server.py:40, never ran: network and files".
func unrunText(u *coverage.Unrun) string {
	name, never := u.Name, "never ran"
	if name == "" {
		name = "the module's own code"
	}
	if u.Entered {
		never = "never ran from there on, in one branch"
	}
	return fmt.Sprintf("%s, %s:%d, %s: %s", name, u.File, u.Line, never, doing(u.Kinds))
}

// words say what kinds of sinks do.
var words = map[sinks.Kind]string{
	sinks.Read: "reads files", sinks.Write: "writes files", sinks.Delete: "removes files", sinks.Network: "uses the network", sinks.Process: "starts or signals programs",
	sinks.Evaluate: "runs code that is data", sinks.Decode: "decodes", sinks.Environment: "reads the environment", sinks.SQL: "asks a database", sinks.Deserialize: "makes objects of data", sinks.Home: "names places of the user's own",
}

func doing(kinds []sinks.Kind) string {
	var out []string
	for _, k := range kinds {
		if w := words[k]; w != "" {
			out = append(out, w)
		}
	}
	if n := len(out); n > 1 {
		return strings.Join(out[:n-1], ", ") + " and " + out[n-1]
	}
	return strings.Join(out, "")
}
