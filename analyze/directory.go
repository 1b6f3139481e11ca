package analyze

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Directory is a target's directory that is being judged. It holds what was judged
// already, so that a probe need not judge the first run twice.
type Directory struct {
	dir    *os.Root
	Inputs *Inputs
	opts   Options
	opened []*os.Root
	// declared is the first run's log as Questions or Differs read it, and varied are the logs of runs under conditions
	// as Differs did, by their directories: for First, whose judgement changes them.
	declared *readLog
	varied   map[string]*readLog
}

// OpenDirectory reads what the judgement of a target depends on, which the changes
// given alter. version is that of the program that judges. The Directory keeps dir,
// and does not close it.
func OpenDirectory(dir *os.Root, version string, changes ...func(*Inputs)) (*Directory, error) {
	in, err := ReadInputs(dir)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		change(in)
	}
	d := &Directory{dir: dir, Inputs: in, varied: map[string]*readLog{}}
	d.opts = Options{FailOn: in.FailOn, Version: version, Changed: in.Changed, Least: in.Least, known: &detect.Known{}}
	if in.AuditError != "" {
		d.opts.AuditErr = errors.New(in.AuditError)
	}
	if in.Policy != nil {
		if d.opts.Policy, err = policy.Parse(in.Policy.Name, []byte(in.Policy.Text)); err != nil {
			return nil, fmt.Errorf("read the policy that %s holds: %w", InputsFile, err)
		}
	}
	if d.opts.Rules, err = custom.Compile(d.opts.Policy, slices.Concat(in.PolicyRules, in.Rules)); err != nil {
		return nil, fmt.Errorf("read the rules that %s holds: %w", InputsFile, err)
	}
	if in.Baseline != nil {
		if d.opts.Baseline, err = ParseBaseline(in.Baseline.Name, []byte(in.Baseline.Text)); err != nil {
			return nil, fmt.Errorf("read the baseline that %s holds: %w", InputsFile, err)
		}
	}
	report := &audit.Report{}
	there, err := readJSON(dir, AuditFile, report)
	if err != nil {
		return nil, err
	}
	if there {
		d.opts.Audit = report
	}
	if d.opts.Texts, err = readTexts(dir); err != nil {
		return nil, err
	}
	return d, nil
}

// Judge reads all logs of a target's directory by their role and gives the
// one Result, with what it depended on. It reads nothing outside the directory.
func Judge(dir *os.Root, version string, changes ...func(*Inputs)) (*Result, *Inputs, error) {
	d, err := OpenDirectory(dir, version, changes...)
	if err != nil {
		return nil, nil, err
	}
	index, err := session.ReadIndex(dir)
	if err != nil {
		return nil, nil, err
	}
	res, err := d.First(index.Runs)
	if err != nil {
		return nil, nil, err
	}
	if err := d.Complete(res, index.Runs); err != nil {
		return nil, nil, err
	}
	return res, d.Inputs, nil
}

// in returns the runs of a role that were made, sorted by their directories.
func in(runs []session.IndexedRun, role session.Role) []session.IndexedRun {
	var out []session.IndexedRun
	for _, r := range runs {
		if r.Role == role {
			out = append(out, r)
		}
	}
	return out
}

// open opens the log of a run, which the caller closes by close.
func (d *Directory) open(r session.IndexedRun) (*session.Reader, error) {
	root, err := d.dir.OpenRoot(r.Dir)
	if err != nil {
		return nil, fmt.Errorf("read the log of the run %s: %w", r.Dir, err)
	}
	d.opened = append(d.opened, root)
	log, err := session.Open(root)
	if err != nil {
		return nil, fmt.Errorf("read the log of the run %s: %w", r.Dir, err)
	}
	log.Dir, log.Timers, log.Recorded = r.Dir, r.Timers, r.Recorded
	return log, nil
}

func (d *Directory) close() {
	for _, r := range d.opened {
		_ = r.Close() // it was only read
	}
	d.opened = nil
}

// readVaried reads the logs of the runs under conditions, and of the controls, unless that was done.
func (d *Directory) readVaried(runs []session.IndexedRun) ([]*readLog, error) {
	varied := in(runs, session.RoleVaried)
	slices.SortFunc(varied, func(a, b session.IndexedRun) int { return strings.Compare(a.Dir, b.Dir) })
	var out []*readLog
	for _, r := range varied {
		if d.varied[r.Dir] == nil {
			log, err := d.open(r)
			if err != nil {
				return nil, err
			}
			if d.varied[r.Dir], err = readVaried(log, d.opts.Policy, d.opts.known); err != nil {
				return nil, err
			}
		}
		out = append(out, d.varied[r.Dir])
	}
	return out, nil
}

// First judges the declared run, the build before it and the runs that it is
// compared with.
func (d *Directory) First(runs []session.IndexedRun) (*Result, error) {
	defer d.close()
	o := d.opts
	o.Earlier = d.Inputs.Earlier
	for _, r := range in(runs, session.RoleTraced) {
		log, err := d.open(r)
		if err != nil {
			return nil, err
		}
		o.Traced = log
	}
	l, err := d.readDeclared()
	if err != nil {
		return nil, err
	}
	varied, err := d.readVaried(runs)
	if err != nil {
		return nil, err
	}
	d.declared, d.varied = nil, map[string]*readLog{} // judging changes them
	res := l.judge(o, varied)
	res.Shown = d.Inputs.Shown
	for _, r := range in(runs, session.RoleBuild) {
		if err := d.build(r, res); err != nil {
			return nil, err
		}
	}
	d.addVaried(varied, res)
	return res, nil
}

// Differs reports whether the condition of some varied runs seems to make a
// difference: runs are those of the condition, and the controls.
func (d *Directory) Differs(runs []session.IndexedRun) (bool, error) {
	defer d.close()
	l, err := d.readDeclared()
	if err != nil {
		return false, err
	}
	varied, err := d.readVaried(runs)
	if err != nil {
		return false, err
	}
	return l.differs(varied, d.opts.Policy), nil
}

// Questions are what only a comparison of the declared run with further ones can tell.
func (d *Directory) Questions() (Questions, error) {
	l, err := d.readDeclared()
	if err != nil {
		return Questions{}, err
	}
	return l.questions(), nil
}

// readDeclared reads the first run's log, unless that was done.
func (d *Directory) readDeclared() (*readLog, error) {
	if d.declared != nil {
		return d.declared, nil
	}
	log, err := session.Open(d.dir)
	if err != nil {
		return nil, fmt.Errorf("read the run's log: %w", err)
	}
	d.declared, err = d.opts.read(log)
	return d.declared, err
}

// alone are the options for a run that is judged by itself.
func (d *Directory) alone() Options {
	o := d.opts
	o.Audit, o.AuditErr, o.Texts = nil, nil, nil
	return o
}

// build adds to a result what the build showed. A build that never came to a log is
// spoken of in the server's.
func (d *Directory) build(r session.IndexedRun, res *Result) error {
	if r.Failed != "" {
		return nil
	}
	log, err := d.open(r)
	if err != nil {
		return err
	}
	o := d.alone()
	o.Least = false
	more, err := JudgeReader(log, o)
	if err != nil {
		return fmt.Errorf("judge the build: %w", err)
	}
	for i := range more.Findings {
		more.Findings[i].Reproduce = res.Run.Reproduce
	}
	Add(res, more, "in the build", o)
	return nil
}

// addVaried adds to a result what the runs under conditions showed by themselves:
// findings that each run under a condition has, and the first has not.
func (d *Directory) addVaried(logs []*readLog, res *Result) {
	o := d.alone()
	o.needed = res.needed
	shared := map[session.Vary]*Result{}
	var order []session.Vary
	for _, l := range logs {
		more := l.judge(o, nil)
		v := *l.log.Header.Vary
		if first := shared[v]; first != nil {
			first.Findings = slices.DeleteFunc(first.Findings, func(f finding.Finding) bool { return !more.Shows(f.Fingerprint) })
			continue
		}
		more.Gaps, more.keeper = nil, gapKeeper{} // the comparison has what is missing of them
		shared[v], order = more, append(order, v)
	}
	for _, v := range order {
		Add(res, shared[v], v.How, o)
	}
}

// Complete adds to the result of First how far its findings were made small, and
// what the further starts showed.
func (d *Directory) Complete(res *Result, runs []session.IndexedRun) error {
	defer d.close()
	var shrunk []Shrunk
	if _, err := readJSON(d.dir, ShrunkFile, &shrunk); err != nil {
		return err
	}
	for _, s := range shrunk {
		for i := range res.Findings {
			if slices.Contains(res.Findings[i].Fingerprints(), s.Fingerprint) {
				s.apply(&res.Findings[i], res.Run.Reproduce, d.Inputs.Out)
				break
			}
		}
	}
	last, harmless := res, res.harmless
	for _, r := range slices.Concat(in(runs, session.RoleRestart), in(runs, session.RoleFurther)) {
		more, err := d.addRun(r, res)
		if err != nil {
			return err
		}
		if more != nil && r.Role == session.RoleRestart {
			last, harmless = more, harmless && (more.harmless || !more.ended)
		}
	}
	if res.ended && harmless && !last.ended {
		res.dropGaps(isOfEnd)
		res.updateVerdict(d.alone())
	}
	if err := d.code(res); err != nil {
		return err
	}
	res.confirm()
	if res.Audit != nil {
		res.Audit.Sites, res.Audit.Guards = nil, nil // audit.json has them
	}
	return nil
}

// isOfEnd reports whether a gap says no more than that the server ended.
func isOfEnd(g session.Gap) bool {
	return g.Code == session.GapServerEnded || g.Cause == session.CauseServerEnded
}

// addRun adds to a result what a further start showed, and returns that start's own result, nil
// where it could not be made.
func (d *Directory) addRun(r session.IndexedRun, res *Result) (*Result, error) {
	o := d.alone()
	if r.Failed != "" {
		Doubt(res, session.Gap{Code: session.GapFurtherStartFailed, Text: r.Failed}, o)
		return nil, nil
	}
	log, err := d.open(r)
	if err != nil {
		return nil, err
	}
	o.sent, o.kept, o.needed, o.narrowed = res.sent, res.kept, res.needed, !r.Supplies
	more, err := JudgeReader(log, o)
	if err != nil {
		return nil, err
	}
	if r.Optional {
		more.Gaps = nil
	}
	switch {
	case r.Role == session.RoleRestart:
		Cover(res, more)
	case r.Supplies:
		coverSupplied(res, more)
	case r.OneTool:
		coverCrashed(res, more)
	default:
		answered(res, more)
	}
	if r.Recorded {
		keepWeighty(more, r.Timers)
	}
	if r.Supplies && strings.Contains(log.Header.Network, "loopback") {
		noCrash(more)
	}
	Add(res, more, r.How, o)
	return more, nil
}

// noCrash makes a crash informational in a run in which the sinkhole stood in for a program of this machine: it is no
// database, and a server that ends for that has no fault.
func noCrash(more *Result) {
	for i := range more.Findings {
		if r, ok := rules.Of(more.Findings[i].Rule); ok && r.Ended {
			more.Findings[i].Severity = finding.Info
		}
	}
}

// keepWeighty leaves of a run beside coalmine's own programs what is of medium weight or more. On a fast clock it is what
// the kernel recorded alone: what was said in calls, the declared run shows better.
func keepWeighty(more *Result, timers bool) {
	more.Findings = slices.DeleteFunc(more.Findings, func(f finding.Finding) bool {
		said := slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool { return e.Source == "frame" })
		return timers && said || f.Severity.Rank() < finding.Medium.Rank()
	})
	if timers {
		more.Coverage.Reached = nil
	}
}

// JudgeRun judges the log in one directory by itself.
func JudgeRun(dir *os.Root, o Options) (*Result, error) {
	log, err := session.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("read the run's log: %w", err)
	}
	return JudgeReader(log, o)
}

// apply says in a finding how to play its calls again, and how surely it is its
// call's: what comes without that call, or never again with it, may be another's work.
func (s Shrunk) apply(f *finding.Finding, reproduce, out string) {
	f.Reproduce = strings.Replace(reproduce, " -- ", " --replay "+Quote(out+"/"+s.Replay)+" -- ", 1)
	if s.Shown < s.Tried {
		f.Message += fmt.Sprintf(" (unstable: shown again in %d of %d fresh starts)", s.Shown, s.Tried)
		if f.Confidence == finding.Certain {
			f.Confidence = finding.Probable
		}
	}
	if s.Shown == 0 {
		f.Confidence = finding.Ambiguous
		return
	}
	if s.Without != "" {
		f.Message += fmt.Sprintf(" (it comes without this call, after %s: it may be that tool's work)", s.Without)
		f.Confidence = finding.Ambiguous
	}
}
