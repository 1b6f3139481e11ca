package sweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

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
	// A worker that was ended between its answer and the end of its job leaves the job there.
	if err := s.Queue.Withdraw(ctx, s.sweep.Name); err != nil {
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
	if a.Dead {
		how = store.HowDead
	}
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
	logger(s.Log).Info("result", "job", j.Name, "sweep", s.sweep.Name, "target", j.Target.Key, "version", j.Target.Version, "try", a.Try,
		"how", how, "verdict", r.Verdict, "status", r.Status, "seconds", r.Seconds, "error", r.Error)
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
