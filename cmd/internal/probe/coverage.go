package probe

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/audit/coverage"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
	"github.com/coalmine-dev/coalmine/sandbox/trace/reached"
)

// ownCode is the server's own code: a run records which of it ran.
type ownCode struct {
	*coverage.Code
	// dir is its directory in the sandbox.
	dir string
	// native is the code of a compiled program, nil for a source, and program its path in the sandbox.
	native  *coverage.Native
	program string
	// unread is why a program that Go built could not be read, "" for none.
	unread string
}

// places are those of a compiled program that a run has to show, nil for a source.
func (c *ownCode) places() *reached.Places {
	if c.native == nil {
		return nil
	}
	return &reached.Places{Program: c.program, Table: c.native.Table, TableAt: c.native.TableAt, TableSize: c.native.TableSize, Offsets: c.native.Probes}
}

// startCode reads the server's own code beside the run. The function that it returns waits
// for it, and returns nil where no run has to show what it does, or none can. always takes
// code that can do no harm too.
func (p *probe) startCode(ctx context.Context, always bool) func() *ownCode {
	dir, program := p.codeDir(), p.ownProgram()
	if dir == "" && program == "" || p.opts.Unaudited || p.opts.Replay != nil || !p.plan.Watched() || p.fetched.Unmade() || p.runner.Driver != nil {
		return func() *ownCode { return nil }
	}
	done := make(chan *ownCode, 1)
	go func() {
		defer close(done)
		if program != "" {
			native, err := readNative(ctx, program)
			switch {
			case errors.Is(err, coverage.ErrNoGo):
			case err != nil:
				done <- &ownCode{unread: err.Error()}
				return
			case native.Unread() > 0 && len(native.Probes) == 0:
				done <- &ownCode{unread: fmt.Sprintf("%d functions of the program are too large or too many to be read", native.Unread())}
				return
			default:
				if always || native.Weighs() || native.Unread() > 0 {
					done <- &ownCode{Code: native.Code, native: native, program: p.plan.Server.Command[0]}
				}
				return
			}
		}
		if dir == "" {
			return
		}
		root, err := p.plan.Server.OpenSource()
		if err != nil {
			return // the audit says so
		}
		defer func() { _ = root.Close() }() // it was only read
		code, err := coverage.Read(ctx, root, p.unaudited()...)
		if err == nil && (always || code.Weighs()) {
			done <- &ownCode{Code: code, dir: dir}
		}
	}()
	return func() *ownCode {
		select {
		case code := <-done:
			return code
		case <-ctx.Done():
			return nil // what follows says why
		}
	}
}

// ownProgram is the host's file of the compiled program that the command starts, "" for none that
// lies in the server's own directory.
func (p *probe) ownProgram() string {
	s := p.plan.Server
	if len(s.Command) == 0 || !filepath.IsAbs(s.Command[0]) {
		return ""
	}
	file := s.Command[0]
	rel, err := filepath.Rel(s.ServerDir, file)
	if s.ServerDir == "" || err != nil || !filepath.IsLocal(rel) {
		return ""
	}
	if s.From != "" {
		file = filepath.Join(s.From, rel)
	}
	if !shown.IsELF(file) {
		return ""
	}
	return file
}

// readNative reads a program that Go built. Any other is a coverage.ErrNoGo.
func readNative(ctx context.Context, file string) (*coverage.Native, error) {
	f, err := shown.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return coverage.ReadNative(ctx, f)
}

// codeDir is the directory in the sandbox of the source that is audited, "" where that is not
// shown there.
func (p *probe) codeDir() string {
	s := p.plan.Server
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
	unread := ""
	if code != nil && code.unread != "" {
		unread, code = code.unread, nil
	}
	if code != nil {
		c.OwnCode, c.OwnPlaces = code.dir, code.places()
		if c.OwnPlaces == nil {
			c.AllRan, c.Own = code.AllRan, code.Code
		}
	}
	made, err := scheduler.Code(ctx, &c)
	if err != nil {
		return err
	}
	rested, seen, again := made[experiment.Alone.Name], made[experiment.Coverage.Name], made[experiment.Guided.Name]
	elsewhere, resumed := made[experiment.Elsewhere.Name], made[experiment.Resumed.Name]
	p.covered = slices.Concat(rested.Runs, seen.Runs, again.Runs, elsewhere.Runs, resumed.Runs)
	switch {
	case unread != "":
		return p.writeCoverage(new(coverage.Code).Compare(run.Recording(), unread))
	case code == nil || !c.Seen.Shaken:
		return p.writeCoverage(nil)
	}
	recorded, idle := seen.Last(), rested.Last()
	if code.native != nil {
		recorded.Recorded, recorded.RecordedWhole = []rootfs.File{{Data: code.native.Recording(recorded.Reached)}}, true
	}
	why := whyUnrecorded(&c, seen.Runs, &recorded)
	judged := again.Last().Played == len(experiment.GuidedSteps(&c))
	beside := slices.Clone(idle.Recorded)
	for _, o := range slices.Concat(elsewhere.Seen, resumed.Seen) {
		beside = append(beside, o.Recorded...)
	}
	return p.writeCoverage(covered(code.Code, &recorded, beside, judged, why))
}

func (p *probe) writeCoverage(r *coverage.Report) error {
	if err := analyze.WriteCoverage(p.out, r); err != nil {
		return run.Unwritable(err)
	}
	return nil
}

// covered is what ran of the code by the records of a run, and of those beside it: the one in which the server
// was left alone, those that showed it another system, and the one among the files that it left. What only varied calls reached counts where judged: a run that is judged
// made them again.
func covered(code *coverage.Code, seen *run.Observations, beside []rootfs.File, judged bool, why string) *coverage.Report {
	if why != "" {
		// Without calls the other record shows what the start reaches alone: all behind a tool would count as never run.
		return code.Compare(run.Recording(), why)
	}
	why = "its processes recorded nothing"
	all := code.Compare(run.Recording(seen.Recorded, beside), why)
	all.Unguided = all.Reached
	if seen.Guided.Kept == 0 {
		return all
	}
	plain := code.Compare(run.Recording(seen.Unguided, beside), why)
	plain.Unguided = plain.Reached
	if !judged {
		return plain
	}
	all.Unguided, all.Guided = plain.Reached, seen.Guided.Kept
	return all
}

// whyUnrecorded is why a run recorded nothing that can be relied on, "" where it did.
func whyUnrecorded(c *experiment.Case, runs []session.IndexedRun, seen *run.Observations) string {
	switch {
	case len(runs) > 0 && runs[0].Failed != "":
		return runs[0].Failed
	case len(c.Seen.Steps) > 0 && seen.Played == 0:
		return "the server did not come to a call while its processes recorded it"
	case seen.ReachedErr != nil:
		return seen.ReachedErr.Error()
	case !seen.RecordedWhole:
		return "not all that its processes recorded could be taken along"
	}
	return ""
}
