package sweep

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Options are what a sweep is to do.
type Options struct {
	// Source is what listing.Read takes; Filter keeps targets whose key or name has it.
	Source, Filter string
	// Shard of Shards is this one, from 1; 0 shards are one.
	Shard, Shards int
	// Dir keeps the results, the runs and the embedded queue.
	Dir string
	// Rules and Settings are digests: of what a judgement depends on, and of what a run
	// depends on beside its target.
	Rules, Settings string
	// MaxAge is after how long an unchanged target is run again all the same, since what it
	// depends on may have changed; 0 is never.
	MaxAge time.Duration
	// Pause is the least time between two requests to a registry.
	Pause time.Duration
	// Hash is listing's.
	Hash func(words []string) string
	// Version is the program's, for reports that are judged again.
	Version string
	// Workers make the runs, nil where they are elsewhere.
	Workers *Worker
	Queue   *queue.Queue
	Store   *store.Store
	// Tracer gets the spans of the sweep itself, nil for none.
	Tracer trace.Tracer
	// Progress takes the counts whenever one changes, nil for nothing.
	Progress func(Progress)
	// Inputs are by what a kept run is judged again, in place of what it was judged by.
	Inputs func(*analyze.Inputs)
	// Exit turns a result into the status of a probe.
	Exit func(res *analyze.Result) int
}

// Progress is how far a sweep is.
type Progress struct{ Jobs, Skipped, Judged, Run, Failed int }

// Done counts the jobs that have a result.
func (p Progress) Done() int { return p.Skipped + p.Judged + p.Run + p.Failed }

// sweeper is one sweep on its way.
type sweeper struct {
	Options
	sweep    *store.Sweep
	progress Progress
	status   int
}

// Run lists, runs what has to be run, and keeps the results. A sweep that was ended goes on
// where it was. status is 1 or 3 where that is a server's, and 3 where the list is incomplete.
func Run(ctx context.Context, o Options) (sweep *store.Sweep, p Progress, status int, err error) {
	s := &sweeper{Options: o}
	ctx, span := tracerOf(o.Tracer).Start(ctx, spanSweep, trace.WithAttributes(attribute.String(attrShard, s.shardName())))
	defer func() {
		failed(span, err)
		span.SetAttributes(attribute.Int(attrJobs, s.progress.Jobs), attribute.Int(attrStatus, status))
		span.End()
	}()
	if err := within(ctx, o.Tracer, spanList, s.begin); err != nil {
		return nil, s.progress, 0, err
	}
	span.SetAttributes(attribute.String(attrSweep, s.sweep.Name))
	jobs, err := o.Store.Queued(ctx, s.sweep.ID)
	if err != nil {
		return s.sweep, s.progress, 0, err
	}
	counts, err := o.Store.Counts(ctx, s.sweep.ID)
	if err != nil {
		return s.sweep, s.progress, 0, err
	}
	for _, n := range counts {
		s.progress.Jobs += n
	}
	s.progress.Skipped, s.progress.Judged, s.progress.Run, s.progress.Failed = counts[store.HowSkipped], counts[store.HowJudged], counts[store.HowRun], counts[store.HowFailed]
	s.tell()
	var left []store.Job
	err = within(ctx, o.Tracer, spanReuse, func(ctx context.Context) (err error) {
		left, err = s.withoutRuns(ctx, jobs)
		return err
	})
	if err == nil {
		err = within(ctx, o.Tracer, spanRuns, func(ctx context.Context) error { return s.runs(ctx, left) })
	}
	if err != nil {
		return s.sweep, s.progress, 0, err
	}
	if err := o.Store.Finish(ctx, s.sweep.ID, time.Now()); err != nil {
		return s.sweep, s.progress, 0, err
	}
	return s.sweep, s.progress, s.status, s.verdict(ctx)
}

// verdict sets the status of the whole sweep.
func (s *sweeper) verdict(ctx context.Context) error {
	list, err := s.Store.Entries(ctx, s.sweep.ID)
	if err != nil {
		return err
	}
	if s.sweep.Incomplete != "" {
		s.status = 3
	}
	for _, e := range list {
		if e.Status == 1 || e.Status == 3 && s.status == 0 {
			s.status = e.Status
		}
		if s.status == 1 {
			break
		}
	}
	return nil
}

// begin takes up the sweep that was ended, or lists and begins one.
func (s *sweeper) begin(ctx context.Context) error {
	like := store.Sweep{Source: s.Source + s.filterName(), Rules: s.Rules, Settings: s.Settings, Shard: s.shardName(), Started: time.Now()}
	var err error
	if s.sweep, err = s.Store.Unfinished(ctx, like); err != nil || s.sweep != nil {
		return err
	}
	since, err := s.Store.LastListed(ctx, like.Source, like.Shard)
	if err != nil {
		return err
	}
	if !since.IsZero() {
		since = since.Add(-time.Hour) // the registry's clock is another
	}
	list, err := listing.Read(ctx, s.Source, listing.Options{Since: since, Pause: s.Pause, Hash: s.Hash, Cache: filepath.Join(s.Dir, "pages")})
	if err != nil {
		return err
	}
	targets := list.Targets
	if !since.IsZero() && strings.HasPrefix(s.Source, "http") {
		if targets, err = s.known(ctx, like.Source, list); err != nil {
			return err
		}
	}
	like.Name, like.Incomplete, like.Refused = rand.Text()[:16], list.Incomplete, list.Refused
	if list.More > 0 {
		like.Refused = append(like.Refused, fmt.Sprintf("and %d more", list.More))
	}
	var jobs []store.Job
	for _, t := range targets {
		if s.takes(&t) {
			jobs = append(jobs, store.Job{Name: jobName(&t), Target: t})
		}
	}
	s.sweep = &like
	return s.Store.Begin(ctx, s.sweep, jobs, list.Deleted)
}

// known adds to a list of what changed the targets that did not.
func (s *sweeper) known(ctx context.Context, source string, list *listing.List) ([]listing.Target, error) {
	before, err := s.Store.Targets(ctx, source)
	if err != nil {
		return nil, err
	}
	out := list.Targets
	gone := map[string]bool{}
	for _, t := range out {
		gone[t.Key] = true
	}
	for _, name := range list.Deleted {
		gone["deleted "+name] = true
	}
	for _, t := range before {
		name, _, _ := strings.Cut(t.Name, "#")
		if !gone[t.Key] && !gone["deleted "+name] {
			out = append(out, t)
		}
	}
	return out, nil
}

func (s *sweeper) filterName() string {
	if s.Filter == "" {
		return ""
	}
	return " filter " + s.Filter
}

func (s *sweeper) shardName() string {
	if s.Shards < 2 {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Shard, s.Shards)
}

// takes reports whether a target is of this shard and passes the filter.
func (s *sweeper) takes(t *listing.Target) bool {
	if s.Filter != "" && !strings.Contains(t.Key, s.Filter) && !strings.Contains(t.Name, s.Filter) {
		return false
	}
	if s.Shards < 2 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(t.Key)) // a hash takes all
	return int(h.Sum32())%s.Shards == s.Shard-1
}

// jobName is a target's name in the queue.
func jobName(t *listing.Target) string {
	sum := sha256.Sum256([]byte(t.Key + "\x00" + t.Digest()))
	return hex.EncodeToString(sum[:16])
}

// withoutRuns gives results to the jobs that need no run, and returns the others.
func (s *sweeper) withoutRuns(ctx context.Context, jobs []store.Job) ([]store.Job, error) {
	var left []store.Job
	skipped := map[string]int64{}
	flush := func() error {
		err := s.Store.Skip(ctx, s.sweep.ID, skipped)
		clear(skipped)
		return err
	}
	for _, j := range jobs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		last, err := s.Store.Last(ctx, j.Target.Key, j.Target.Version, j.Target.Digest())
		if err != nil {
			return nil, err
		}
		switch {
		case last == nil || j.Target.Mutable || last.Settings != s.Settings || last.Verdict == store.VerdictError || s.MaxAge > 0 && time.Since(last.Ran) > s.MaxAge:
			left = append(left, j)
			continue
		case last.Rules == s.Rules:
			skipped[j.Name] = last.ID
			s.progress.Skipped++
		default:
			done, err := s.judge(ctx, j, last)
			if err != nil {
				return nil, err
			}
			if !done {
				left = append(left, j)
				continue
			}
			s.progress.Judged++
		}
		if len(skipped) >= 1000 {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		s.tell()
	}
	return left, flush()
}

func (s *sweeper) tell() {
	if s.Progress != nil {
		s.Progress(s.progress)
	}
}

// judge judges a kept run again; it is false where that cannot be done.
func (s *sweeper) judge(ctx context.Context, j store.Job, last *store.Result) (bool, error) {
	root, err := os.OpenRoot(filepath.Join(s.Dir, filepath.FromSlash(last.Dir)))
	if err != nil || last.Dir == "" {
		return false, nil
	}
	defer root.Close()
	res, in, err := analyze.Judge(root, s.Version, s.Inputs)
	if err != nil {
		return false, nil // it is run again
	}
	if err := report.Write(session.Output{Root: root}, res, in); err != nil {
		return false, nil // nor does one run that cannot be written end the sweep
	}
	r := s.result(&j.Target, res, last.Dir)
	r.Ran, r.Seconds, r.Package = last.Ran, last.Seconds, cmp.Or(r.Package, last.Package)
	if err := s.moved(ctx, j, r); err != nil {
		return false, err
	}
	_, err = s.Store.Record(ctx, s.sweep.ID, j.Name, store.HowJudged, r)
	return true, err
}

// result is what is kept of a judgement.
func (s *sweeper) result(t *listing.Target, res *analyze.Result, dir string) *store.Result {
	r := &store.Result{Key: t.Key, Version: t.Version, Digest: t.Digest(), Rules: s.Rules, Settings: s.Settings, Verdict: string(res.Verdict), Status: s.Exit(res), Ran: res.Run.Started, Judged: time.Now(), Dir: dir}
	if p := res.Run.Package; p != nil {
		r.Package = p.Integrity
	}
	for _, f := range res.Findings {
		r.Findings = append(r.Findings, store.Finding{Rule: f.Rule, Severity: string(f.Severity), Tool: f.Tool, Title: f.Title, Message: f.Message, Fingerprint: f.Fingerprint})
	}
	return r
}

// runs hands jobs to the workers and takes their answers.
func (s *sweeper) runs(ctx context.Context, jobs []store.Job) error {
	if len(jobs) == 0 {
		return nil
	}
	waiting := map[string]store.Job{}
	for _, j := range jobs {
		waiting[j.Name] = j
	}
	parent := traceparent(ctx)
	err := s.Queue.Add(ctx, s.sweep.Name, func(yield func(string, []byte) bool) {
		for _, j := range jobs {
			if !yield(j.Name, encode(job{Sweep: s.sweep.Name, Name: j.Name, Target: j.Target, Trace: parent})) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	working, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	if s.Workers == nil {
		ended <- nil
	} else {
		go func() {
			err := s.Workers.Run(working)
			if working.Err() == nil {
				stop() // the answers end too
			}
			ended <- err
		}()
	}
	err = s.Queue.Results(working, s.sweep.Name, func(name string, data []byte) (bool, error) {
		j, ok := waiting[name]
		if !ok {
			return true, nil
		}
		delete(waiting, name)
		return len(waiting) > 0, s.answered(ctx, j, data)
	})
	stop()
	if workErr := <-ended; workErr != nil && !errors.Is(workErr, context.Canceled) {
		err = workErr
	}
	if err != nil {
		return err
	}
	return s.Queue.Forget(ctx, s.sweep.Name)
}

// answered keeps what a worker found.
func (s *sweeper) answered(ctx context.Context, j store.Job, data []byte) error {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		a.Error = "the worker's answer cannot be read"
	}
	how := store.HowFailed
	r := &store.Result{Key: j.Target.Key, Version: j.Target.Version, Digest: j.Target.Digest(), Rules: s.Rules, Settings: s.Settings, Verdict: store.VerdictError, Status: 3, Error: a.Error, Ran: a.Ran, Judged: time.Now()}
	if a.Error == "" {
		got, err := s.keep(ctx, j, a.Run)
		if err != nil {
			return err
		}
		if got.Verdict != store.VerdictError {
			how = store.HowRun
		}
		got.Ran = a.Ran
		r = got
	}
	r.Seconds = a.Seconds
	recorded, err := s.Store.Record(ctx, s.sweep.ID, j.Name, how, r)
	if err != nil {
		return err
	}
	if recorded && how == store.HowRun {
		s.progress.Run++
	} else if recorded {
		s.progress.Failed++
	}
	s.tell()
	if a.Run == "" {
		return nil
	}
	return s.Queue.ForgetRun(ctx, a.Run)
}

// keep moves the files of a run to their place in the store, and reads its report. A run
// that cannot be read is a result with an error.
func (s *sweeper) keep(ctx context.Context, j store.Job, run string) (*store.Result, error) {
	place := filepath.Join("runs", report.Slug(j.Target.Key), j.Name)
	fresh := filepath.Join(s.Dir, place+".new")
	var res analyze.Result
	err := fmt.Errorf("the worker's answer names the run %.80q", run)
	if strings.HasPrefix(run, s.sweep.Name+"."+j.Name+".") {
		err = s.Queue.TakeRun(ctx, run, func(from io.Reader) error { return fetched(from, fresh, &res) })
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, err
		}
		bad := &store.Result{Key: j.Target.Key, Version: j.Target.Version, Digest: j.Target.Digest(), Rules: s.Rules, Settings: s.Settings, Verdict: store.VerdictError, Status: 3, Error: shortened(err), Judged: time.Now()}
		return bad, os.RemoveAll(fresh)
	}
	old := filepath.Join(s.Dir, place)
	if err := errors.Join(os.RemoveAll(old), os.Rename(fresh, old)); err != nil {
		return nil, err
	}
	r := s.result(&j.Target, &res, filepath.ToSlash(place))
	return r, s.moved(ctx, j, r)
}

// fetched unpacks a run into a fresh directory, and reads its report.
func fetched(from io.Reader, dir string, res *analyze.Result) error {
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := unpack(from, root); err != nil {
		return err
	}
	data, err := session.ReadFile(root, report.FileJSON, maxReport)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, res)
}

// moved notes that a version is not what it was: its archives changed between two fetches.
// The run speaks for one of them alone, so the version is never clean again.
func (s *sweeper) moved(ctx context.Context, j store.Job, r *store.Result) error {
	if j.Target.Mutable || r.Package == "" {
		return nil
	}
	other, err := s.Store.OtherPackage(ctx, r.Key, r.Version, r.Package)
	if err != nil || other.IsZero() {
		return err
	}
	r.Error = "what is fetched under this version is not what it was on " + other.Format(time.DateOnly) + ": its archive changed"
	if r.Verdict == string(analyze.Clean) {
		r.Verdict, r.Status = string(analyze.Inconclusive), 3
	}
	return nil
}

// maxReport bounds a report.json, in bytes.
const maxReport = 256 << 20
