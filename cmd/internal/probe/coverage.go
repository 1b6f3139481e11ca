package probe

import (
	"context"
	"path/filepath"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// ownCode is the server's own code, of which a run is to record what ran.
type ownCode struct {
	*coverage.Code
	// dir is its directory in the sandbox.
	dir string
}

// startCode reads the server's own code beside the run. The function that it returns waits
// for it, and returns nil where no run has to show what it does, or none can. always takes
// code that can do no harm too.
func (p *probe) startCode(ctx context.Context, always bool) func() *ownCode {
	dir := p.codeDir()
	if dir == "" || p.opts.Unaudited || p.opts.Replay != nil || !p.plan.Watched() || p.fetched.Unmade() || p.runner.Driver != nil {
		return func() *ownCode { return nil }
	}
	done := make(chan *ownCode, 1)
	go func() {
		defer close(done)
		root, err := p.plan.Server.OpenSource()
		if err != nil {
			return // the audit says so
		}
		defer func() { _ = root.Close() }() // it was only read
		code, err := coverage.Read(ctx, root, p.unaudited()...)
		if err == nil && (always || code.Weighs()) {
			done <- &ownCode{code, dir}
		}
	}()
	return func() *ownCode { return <-done }
}

// codeDir is the directory in the sandbox of the source that is audited, "" where that is not
// shown there.
func (p *probe) codeDir() string {
	s := &p.plan.Server
	from := s.From
	if from == "" {
		from = s.ServerDir
	}
	if s.Source == "" || from == "" || s.ServerDir == "" {
		return ""
	}
	rel, err := filepath.Rel(from, s.Source)
	if err != nil || !filepath.IsLocal(rel) {
		realFrom, fromErr := filepath.EvalSymlinks(from)
		realSource, sourceErr := filepath.EvalSymlinks(s.Source)
		if fromErr != nil || sourceErr != nil {
			return ""
		}
		if rel, err = filepath.Rel(realFrom, realSource); err != nil || !filepath.IsLocal(rel) {
			return ""
		}
	}
	return filepath.Join(s.ServerDir, rel)
}

// cover makes the run in which the server is left alone and the one that records which code
// runs, and keeps what both recorded.
func (p *probe) cover(ctx context.Context, scheduler *experiment.Scheduler, c experiment.Case, code *ownCode) error {
	if code != nil {
		c.OwnCode = code.dir
	}
	runs, rested, err := scheduler.Alone(ctx, c)
	if err != nil {
		return err
	}
	p.covered = runs
	if code == nil {
		return analyze.WriteCoverage(p.out, nil)
	}
	runs, seen, err := scheduler.Coverage(ctx, c)
	if err != nil {
		return err
	}
	p.covered = append(p.covered, runs...)
	recording, why := recordingOf(&c, runs, &seen)
	for _, f := range rested.Recorded {
		recording.Add(f.Data)
	}
	if err := analyze.WriteCoverage(p.out, code.Compare(recording, why)); err != nil {
		return run.Unwritable(err)
	}
	return nil
}

// recordingOf is what was recorded, and why there is nothing where there is not.
func recordingOf(c *experiment.Case, runs []session.IndexedRun, seen *run.Observations) (*coverage.Recording, string) {
	r := &coverage.Recording{}
	switch {
	case len(runs) > 0 && runs[0].Failed != "":
		return r, runs[0].Failed
	case len(c.Seen.Steps) > 0 && seen.Played == 0:
		return r, "the server did not come to a call while its processes recorded it"
	case !seen.RecordedWhole:
		return r, "not all that its processes recorded could be taken along"
	}
	for _, f := range seen.Recorded {
		r.Add(f.Data)
	}
	return r, "its processes recorded nothing"
}
