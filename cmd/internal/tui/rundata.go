package tui

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// runFiles are the files by which a directory is known to be a run's.
var runFiles = []string{session.IndexFile, session.TraceFile, report.FileJSON}

// maxReport bounds a report.json, in bytes.
const maxReport = 256 << 20

// runData is what a run's directory says.
type runData struct {
	res *analyze.Result
	// judged says that there was no report, so that the run was judged now.
	judged bool
	runs   []session.IndexedRun
}

// readRun reads a run's report, or judges the run where it has none.
func readRun(path, version string) (*runData, error) {
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	d := &runData{}
	if index, err := session.ReadIndex(dir); err == nil {
		d.runs = index.Runs
	} else if _, err := dir.Lstat(session.FramesFile); err == nil {
		d.runs = []session.IndexedRun{{Role: session.RoleDeclared, Dir: "."}}
	}
	d.res, err = readReport(dir, report.FileJSON)
	if errors.Is(err, os.ErrNotExist) {
		d.judged = true
		d.res, _, err = analyze.Judge(dir, version)
	}
	if err != nil {
		return d, err
	}
	return d, nil
}

// readReport reads a report of coalmine's.
func readReport(dir *os.Root, name string) (*analyze.Result, error) {
	data, err := session.ReadFile(dir, name, maxReport)
	if err != nil {
		return nil, err
	}
	res := &analyze.Result{}
	if err := json.Unmarshal(data, res); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if res.Schema != analyze.Schema {
		return nil, fmt.Errorf("%s is not a report: its schema is %.40q; this version reads %q", name, res.Schema, analyze.Schema)
	}
	return res, nil
}

// readReportFile reads a report by its path.
func readReportFile(path string) (*analyze.Result, error) {
	dir, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return readReport(dir, filepath.Base(path))
}

// openFrames opens the log of a run below a target's directory. Links are refused.
func openFrames(path, below string) (io.Closer, *frames.Index, error) {
	f, err := session.OpenBelow(path, filepath.Join(below, session.FramesFile))
	if err != nil {
		return nil, nil, err
	}
	return f, frames.New(f), nil
}

// runOf is the directory of the run whose log a piece of evidence is from.
func runOf(e *finding.Evidence) string { return cmp.Or(e.Dir, ".") }

// errorsOf counts the calls of a run that failed, callsOf all.
func errorsOf(res *analyze.Result) (calls, failed int) {
	for _, t := range res.Coverage.Tools {
		calls += t.Calls
		failed += t.Errors + t.Timeouts
	}
	return calls, failed
}
