package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func (q *Queue) keptResults(ctx context.Context) (_ jetstream.KeyValue, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.results == nil {
		q.results, err = q.js.KeyValue(ctx, resultsName)
	}
	return q.results, err
}

func (q *Queue) keptRuns(ctx context.Context) (_ jetstream.ObjectStore, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.runs == nil {
		q.runs, err = q.js.ObjectStore(ctx, runsName)
	}
	return q.runs, err
}

// PutResult keeps the result of a job; the first one counts.
func (q *Queue) PutResult(ctx context.Context, sweep, name string, result []byte) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		kv, err := q.keptResults(ctx)
		if err != nil {
			return err
		}
		_, err = kv.Create(ctx, sweep+"."+name, result)
		if errors.Is(err, jetstream.ErrKeyExists) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	return nil
}

// HasResult reports whether a job has its result.
func (q *Queue) HasResult(ctx context.Context, sweep, name string) (has bool, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		kv, err := q.keptResults(ctx)
		if err != nil {
			return err
		}
		_, err = kv.Get(ctx, sweep+"."+name)
		has = err == nil
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look for a result: %w", err)
	}
	return has, nil
}

// backKey counts how often a job was given back by a worker that was ended, beside the results.
func backKey(sweep, name string) string { return "back-" + sweep + "." + name }

// GiveBack gives a job back whose worker is to end, which is no try of the job's.
func (q *Queue) GiveBack(d *Delivery, sweep, name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), requestTime)
	defer cancel()
	err := func() error {
		n, err := q.backs(ctx, sweep, name)
		if err != nil {
			return err
		}
		_, err = q.results.Put(ctx, backKey(sweep, name), []byte(strconv.Itoa(n+1)))
		return err
	}()
	return errors.Join(err, d.Again(0))
}

// Tries is how often a job was begun, without those times that it was given back.
func (q *Queue) Tries(ctx context.Context, d *Delivery, sweep, name string) (tries int, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		n, err := q.backs(ctx, sweep, name)
		tries = d.Try - n
		return err
	})
	return tries, err
}

func (q *Queue) backs(ctx context.Context, sweep, name string) (int, error) {
	kv, err := q.keptResults(ctx)
	if err != nil {
		return 0, err
	}
	e, err := kv.Get(ctx, backKey(sweep, name))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	n, _ := strconv.Atoi(string(e.Value())) // who can write it could answer the job, too
	return max(n, 0), nil
}

// quiet is after how long without any result the watch is begun anew: one that a cluster
// lost would wait for ever.
const quiet = 5 * time.Minute

// Results calls take with each result of a sweep, those that are there first, until it
// returns false or an error, or the context ends. A result can come more than once.
func (q *Queue) Results(ctx context.Context, sweep string, take func(name string, result []byte) (more bool, err error)) error {
	for {
		w, end, err := q.watch(ctx, sweep)
		if err != nil {
			return fmt.Errorf("watch the results: %w", err)
		}
		more, err := watched(ctx, w, func(e jetstream.KeyValueEntry) (bool, error) {
			return take(strings.TrimPrefix(e.Key(), sweep+"."), e.Value())
		})
		_ = w.Stop() // the connection ends it too
		end()
		if err != nil || !more {
			return err
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// watch begins to watch a sweep's results, until ctx ends or end is called.
func (q *Queue) watch(ctx context.Context, sweep string) (w jetstream.KeyWatcher, end context.CancelFunc, err error) {
	err = q.persist(ctx, func(limited context.Context) error {
		kv, err := q.keptResults(limited)
		if err != nil {
			return err
		}
		// The watch's context is its request's, too, and a stream without a leader answers none.
		lives, cancel := context.WithCancel(ctx)
		begun := context.AfterFunc(limited, cancel)
		w, err = kv.Watch(lives, sweep+".*", jetstream.IgnoreDeletes())
		if !begun() || err != nil {
			cancel()
			return cmp.Or(err, context.Cause(limited))
		}
		end = cancel
		return nil
	})
	return w, end, err
}

// watched hands on what a watch sees until it ends, which more tells from its having all.
func watched(ctx context.Context, w jetstream.KeyWatcher, take func(e jetstream.KeyValueEntry) (bool, error)) (more bool, err error) {
	silence := time.NewTimer(quiet)
	defer silence.Stop()
	for {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-silence.C:
			return true, nil
		case e, ok := <-w.Updates():
			if !ok {
				return true, nil
			}
			if e == nil { // all that were there are delivered
				continue
			}
			silence.Reset(quiet)
			if more, err := take(e); err != nil || !more {
				return false, err
			}
		}
	}
}

// Forget removes the results of a sweep, and what is left of its runs.
func (q *Queue) Forget(ctx context.Context, sweep string) error {
	names, err := q.resultNames(ctx, sweep+".*", backKey(sweep, "*"))
	if err != nil {
		return fmt.Errorf("list the results: %w", err)
	}
	for _, name := range names {
		err := q.persist(ctx, func(ctx context.Context) error {
			err := q.results.Purge(ctx, name)
			if errors.Is(err, jetstream.ErrKeyNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("remove a result: %w", err)
		}
	}
	var left []*jetstream.ObjectInfo
	err = q.persist(ctx, func(ctx context.Context) (err error) {
		left, err = q.runs.List(ctx)
		if errors.Is(err, jetstream.ErrNoObjectsFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list the runs: %w", err)
	}
	for _, o := range left {
		if strings.HasPrefix(o.Name, sweep+".") {
			if err := q.ForgetRun(ctx, o.Name); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *Queue) resultNames(ctx context.Context, patterns ...string) (names []string, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		names = nil
		keys, err := q.results.ListKeysFiltered(ctx, patterns...)
		if err != nil {
			return err
		}
		for key := range keys.Keys() {
			names = append(names, key)
		}
		return nil
	})
	return names, err
}

// PutRun keeps the files of a run of a job under a name, which begins with that of the
// sweep and a dot. open gives the files from their beginning: it is called again where a
// cluster lost what it was given.
func (q *Queue) PutRun(ctx context.Context, name string, open func() io.ReadCloser) error {
	start := time.Now()
	for {
		err := q.putRun(ctx, name, open())
		if err == nil || ctx.Err() != nil || time.Since(start) >= q.patience {
			if err != nil {
				err = fmt.Errorf("keep a run: %w", q.because(err))
			}
			return err
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (q *Queue) putRun(ctx context.Context, name string, from io.ReadCloser) error {
	defer func() { _ = from.Close() }() // what it says of its end, reading said before
	runs, err := q.keptRuns(ctx)
	if err != nil {
		return err
	}
	_, err = runs.Put(ctx, jetstream.ObjectMeta{Name: name}, from)
	return err
}

// TakeRun gives take the files of a run by its name, from their beginning, and again from
// there where a cluster did not bring them to the end.
func (q *Queue) TakeRun(ctx context.Context, name string, take func(io.Reader) error) error {
	start := time.Now()
	for {
		lost, err := q.takeRun(ctx, name, take)
		if err == nil || !lost || ctx.Err() != nil || time.Since(start) >= q.patience {
			return err
		}
		if err := pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// takeRun tells by lost that the error is the queue's and not take's.
func (q *Queue) takeRun(ctx context.Context, name string, take func(io.Reader) error) (lost bool, err error) {
	runs, err := q.keptRuns(ctx)
	if err != nil {
		return true, fmt.Errorf("fetch a run: %w", err)
	}
	r, err := runs.Get(ctx, name)
	if err != nil {
		return true, fmt.Errorf("fetch a run: %w", q.because(err))
	}
	from := &source{from: r}
	err = take(from)
	_ = r.Close() // what it says of its end, reading said before
	if from.err != nil {
		return true, fmt.Errorf("fetch a run: %w", from.err)
	}
	return false, err
}

// source keeps the error of a reader.
type source struct {
	from io.Reader
	err  error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// ForgetRun removes the files of a run.
func (q *Queue) ForgetRun(ctx context.Context, name string) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		err := q.runs.Delete(ctx, name)
		if errors.Is(err, jetstream.ErrObjectNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("remove a run: %w", err)
	}
	return nil
}
