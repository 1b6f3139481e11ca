package sweep

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/analyze/rules"
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
	// MaxRuns and MaxTime end the sweep after so many runs, or that time; 0 is never. What was
	// not reached stays queued: the next sweep goes on there.
	MaxRuns int
	MaxTime time.Duration
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
	// Log gets a line when the sweep begins, for each answer of a worker, and when it ends;
	// nil for none.
	Log *slog.Logger
	// Progress takes the counts whenever one changes, nil for nothing.
	Progress func(Progress)
	// Inputs are by what a kept run is judged again, in place of what it was judged by.
	Inputs func(*analyze.Inputs)
	// Exit turns a result into the status of a probe.
	Exit func(res *analyze.Result) int
}

// Progress is how far a sweep is. Left are the jobs that its budget did not reach.
type Progress struct{ Jobs, Skipped, Judged, Run, Failed, Left int }

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
// where it was. status is 1 or 3 where that is a server's, and 3 where the list is incomplete
// or the budget did not reach all of it.
func Run(ctx context.Context, o Options) (sweep *store.Sweep, p Progress, status int, err error) {
	s := &sweeper{Options: o}
	ctx, span := tracerOf(o.Tracer).Start(ctx, spanSweep, trace.WithAttributes(attribute.String(attrShard, s.shardName())))
	defer func() {
		failed(span, err)
		span.SetAttributes(attribute.Int(attrJobs, s.progress.Jobs), attribute.Int(attrStatus, status))
		span.End()
	}()
	err = untilStopped(ctx, o.Queue, func(ctx context.Context) error {
		if err := within(ctx, o.Tracer, spanList, s.begin); err != nil {
			return err
		}
		span.SetAttributes(attribute.String(attrSweep, s.sweep.Name))
		if err := s.work(ctx); err != nil {
			return err
		}
		return s.end(ctx)
	})
	if err != nil {
		return s.sweep, s.progress, 0, err
	}
	return s.sweep, s.progress, s.status, nil
}

// work gives results to the jobs that have none, as far as the budget reaches.
func (s *sweeper) work(ctx context.Context) error {
	jobs, err := s.Store.Queued(ctx, s.sweep.ID)
	if err != nil {
		return err
	}
	counts, err := s.Store.Counts(ctx, s.sweep.ID)
	if err != nil {
		return err
	}
	for _, n := range counts {
		s.progress.Jobs += n
	}
	s.progress.Skipped, s.progress.Judged, s.progress.Run, s.progress.Failed = counts[store.HowSkipped], counts[store.HowJudged], counts[store.HowRun], counts[store.HowFailed]+counts[store.HowDead]
	s.tell()
	log := logger(s.Log).With("sweep", s.sweep.Name)
	log.Info("sweep begun", "jobs", s.progress.Jobs, "left", len(jobs))
	limited, cancel := ctx, context.CancelFunc(func() {})
	if s.MaxTime > 0 {
		limited, cancel = context.WithTimeout(ctx, s.MaxTime)
	}
	defer cancel()
	var left []store.Job
	err = within(limited, s.Tracer, spanReuse, func(ctx context.Context) (err error) {
		left, err = s.withoutRuns(ctx, jobs)
		return err
	})
	if err == nil {
		if s.MaxRuns > 0 && len(left) > s.MaxRuns {
			left = left[:s.MaxRuns]
		}
		log.Info("runs begin", "runs", len(left), "unchanged", s.progress.Skipped, "judged", s.progress.Judged)
		err = within(limited, s.Tracer, spanRuns, func(ctx context.Context) error { return s.runs(ctx, left) })
	}
	if ctx.Err() == nil && limited.Err() != nil { // whatever the error is, it comes of the end of the time
		return s.Queue.Withdraw(ctx, s.sweep.Name)
	}
	return err
}

// end finishes a sweep that has all its results, and sets its status.
func (s *sweeper) end(ctx context.Context) error {
	counts, err := s.Store.Counts(ctx, s.sweep.ID)
	if err != nil {
		return err
	}
	if s.progress.Left = counts[store.HowQueued]; s.progress.Left == 0 {
		if err := s.Store.Finish(ctx, s.sweep.ID, time.Now()); err != nil {
			return err
		}
	}
	err = s.verdict(ctx)
	p := s.progress
	logger(s.Log).Info("sweep done", "sweep", s.sweep.Name, "jobs", p.Jobs, "run", p.Run, "unchanged", p.Skipped, "judged", p.Judged, "failed", p.Failed, "left", p.Left, "status", s.status)
	return err
}

// verdict sets the status of the whole sweep.
func (s *sweeper) verdict(ctx context.Context) error {
	list, err := s.Store.Entries(ctx, s.sweep.ID)
	if err != nil {
		return err
	}
	if s.sweep.Incomplete != "" || s.progress.Left > 0 {
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

// withoutRuns gives results to the jobs that need no run, and returns the others: those that
// never ran first, then those that ran longest ago, so that a budget reaches all in the end.
func (s *sweeper) withoutRuns(ctx context.Context, jobs []store.Job) ([]store.Job, error) {
	var left []store.Job
	ran := map[string]time.Time{}
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
		if last != nil {
			ran[j.Name] = last.Ran
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
	slices.SortStableFunc(left, func(a, b store.Job) int { return ran[a.Name].Compare(ran[b.Name]) })
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

// maxBehaviours bounds the behaviours that are kept of a result.
const maxBehaviours = 500

// result is what is kept of a judgement.
func (s *sweeper) result(t *listing.Target, res *analyze.Result, dir string) *store.Result {
	r := &store.Result{Key: t.Key, Version: t.Version, Digest: t.Digest(), Rules: s.Rules, Settings: s.Settings, Verdict: string(res.Verdict), Status: s.Exit(res), Ran: res.Run.Started, Judged: time.Now(), Dir: dir}
	if p := res.Run.Package; p != nil {
		r.Package = p.Integrity
	}
	for _, f := range res.Findings {
		r.Findings = append(r.Findings, store.Finding{Rule: f.Rule, Severity: string(f.Severity), Tool: f.Tool, Title: f.Title, Message: f.Message, Fingerprint: f.Fingerprint})
	}
	r.Behaviours = append([]string{}, rules.Behaviours(res.Observed)...)
	if len(r.Behaviours) > maxBehaviours {
		r.Behaviours = r.Behaviours[:maxBehaviours]
	}
	return r
}
