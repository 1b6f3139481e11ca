package sweep

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"golang.org/x/sync/errgroup"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
)

// Worker takes jobs from a queue.
type Worker struct {
	Queue *queue.Queue
	Probe Probe
	// Jobs is how many targets run at once.
	Jobs int
	// Dir is where a run is until it is in the queue.
	Dir string
	// Budget bounds one target in time; 0 is an hour.
	Budget time.Duration
	// Begin takes the name of each target that begins, nil for nothing; End says for each of
	// them whether there was a run, and how long it took.
	Begin func(name string)
	End   func(failed bool, after time.Duration)
	// Tracer gets a span for each job, and for its parts; nil for none.
	Tracer trace.Tracer
	// Log gets a line when a job begins and one when it ends; nil for none.
	Log *slog.Logger
	// Most ends the worker after that many jobs; 0 is never.
	Most  int
	taken atomic.Int64
}

// Run works until the context ends, whose error it returns, the queue is stopped, or Most
// jobs are done.
func (w *Worker) Run(ctx context.Context) error {
	return untilStopped(ctx, w.Queue, w.runAll)
}

func (w *Worker) runAll(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	for range max(w.Jobs, 1) {
		g.Go(func() error {
			for w.Most <= 0 || w.taken.Add(1) <= int64(w.Most) {
				d, err := w.Queue.Next(ctx)
				if err != nil {
					return err
				}
				if err := w.take(ctx, d); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// take does one job. An error is the queue's: what is wrong with the target is its answer.
func (w *Worker) take(ctx context.Context, d *queue.Delivery) error {
	var j job
	if err := json.Unmarshal(d.Job, &j); err != nil || j.Name == "" || j.Sweep == "" {
		return w.done(ctx, d) // of another program: nobody can do it
	}
	ctx, span := w.startJob(ctx, &j, d)
	defer span.End()
	return w.work(ctx, d, &j, span)
}

// work does a job that was read.
func (w *Worker) work(ctx context.Context, d *queue.Delivery, j *job, span trace.Span) error {
	// It is there where a worker ended after its answer, or the queue lost that it was taken.
	if has, err := w.Queue.HasResult(ctx, j.Sweep, j.Name); err != nil {
		return err
	} else if has {
		return w.done(ctx, d)
	}
	try := d.Try
	if try > maxTries {
		var err error
		if try, err = w.Queue.Tries(ctx, d, j.Sweep, j.Name); err != nil {
			return err
		}
	}
	log := logger(w.Log).With("job", j.Name, "sweep", j.Sweep, "target", j.Target.Key, "version", j.Target.Version, "try", try)
	a := answer{Ran: time.Now().UTC().Truncate(time.Second), Try: try, Status: 3}
	if try > maxTries {
		a.Error, a.Dead = fmt.Sprintf("no worker finished this target in %d tries", maxTries), true
		log.Error("job given up", "error", a.Error)
		return w.answer(ctx, d, j, &a)
	}
	if w.Begin != nil {
		w.Begin(j.Target.Name)
	}
	log.Info("job begun")
	began := time.Now()
	err := w.run(ctx, j, &a)
	failed(span, err)
	if w.End != nil {
		w.End(err != nil, time.Since(began))
	}
	if ctx.Err() != nil {
		// The worker is to end: another one begins anew.
		_ = w.Queue.GiveBack(d, j.Sweep, j.Name) // without it the queue waits for a sign of life
		log.Warn("job given back", "seconds", a.Seconds)
		return ctx.Err()
	}
	if err != nil {
		a.Error = shortened(err)
	}
	log.Info("job done", "status", a.Status, "seconds", a.Seconds, "error", a.Error)
	span.SetAttributes(attribute.Int(attrStatus, a.Status))
	return w.answer(ctx, d, j, &a)
}

func (w *Worker) answer(ctx context.Context, d *queue.Delivery, j *job, a *answer) error {
	err := within(ctx, w.Tracer, spanAnswer, func(ctx context.Context) error {
		return w.Queue.PutResult(ctx, j.Sweep, j.Name, encode(a))
	})
	if err != nil {
		return err
	}
	// The sweep may have its last result by now and end its workers: the answer arrived.
	return w.done(ctx, d)
}

// done ends a delivery. One that the queue does not take is delivered again, and its result
// is found then.
func (w *Worker) done(ctx context.Context, d *queue.Delivery) error {
	_ = d.Done(ctx)
	return ctx.Err()
}

// run probes a target and puts its files into the queue.
func (w *Worker) run(ctx context.Context, j *job, a *answer) (err error) {
	out, err := os.MkdirTemp(w.Dir, "run-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(out)) }()
	budget := w.Budget
	if budget <= 0 {
		budget = time.Hour
	}
	limited, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	start := time.Now()
	var dir string
	var status int
	err = within(limited, w.Tracer, spanProbe, func(ctx context.Context) (err error) {
		dir, status, err = w.Probe(ctx, j.Target, out)
		return err
	})
	a.Seconds = time.Since(start).Round(time.Millisecond).Seconds()
	if err != nil {
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("it took longer than the budget of a target, %s", budget)
		}
		return err
	}
	a.Status = status
	if rel, err := filepath.Rel(out, dir); err != nil || !filepath.IsLocal(rel) {
		return errors.New("the run's directory is elsewhere")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	a.Run = j.Sweep + "." + j.Name + "." + rand.Text()[:8]
	return within(ctx, w.Tracer, spanKeep, func(ctx context.Context) error {
		return w.Queue.PutRun(ctx, a.Run, func() io.ReadCloser { return packed(root) })
	})
}

// packed gives the archive of a run directory. Closing it ends its goroutine.
func packed(root *os.Root) io.ReadCloser {
	r, pipe := io.Pipe()
	go func() {
		to := bufio.NewWriterSize(pipe, packedChunk)
		err := pack(root, to)
		if err == nil {
			err = to.Flush()
		}
		_ = pipe.CloseWithError(err) // it has no error of its own
	}()
	return r
}

// packedChunk is the size of a message of the queue's store of runs.
const packedChunk = 128 << 10
