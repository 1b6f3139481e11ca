package queue

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// pending is how many jobs are on their way into the queue at once.
const pending = 512

// Add puts jobs into the queue, by their names. One of the same sweep and name that is still
// in it is not added again.
func (q *Queue) Add(ctx context.Context, sweep string, jobs iter.Seq2[string, []byte]) error {
	var window []sent
	// A job that did not get through at once is sent by itself, with patience.
	flush := func() error {
		for _, s := range window {
			if s.arrived(ctx) {
				continue
			}
			err := q.persist(ctx, func(ctx context.Context) error {
				_, err := q.js.Publish(ctx, q.jobSubject(sweep, s.name), s.data)
				if isThere(err) {
					return nil
				}
				return err
			})
			if err != nil {
				return fmt.Errorf("add a job to the queue: %w", err)
			}
		}
		window = window[:0]
		return nil
	}
	for name, data := range jobs {
		ack, err := q.js.PublishAsync(q.jobSubject(sweep, name), data)
		if err != nil {
			ack = nil
		}
		if window = append(window, sent{name, data, ack}); len(window) == pending {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// sent is a job on its way into the queue.
type sent struct {
	name string
	data []byte
	// ack is nil where the job could not be sent.
	ack jetstream.PubAckFuture
}

// arrived waits for the answer of the queue.
func (s *sent) arrived(ctx context.Context) bool {
	if s.ack == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	select {
	case <-s.ack.Ok():
		return true
	case err := <-s.ack.Err():
		return isThere(err)
	case <-ctx.Done():
		return false
	}
}

func (q *Queue) jobSubject(sweep, name string) string {
	return subject + q.settings + "." + sweep + "." + name
}

// isThere reports whether an error says that the job is in the queue already. The server
// has no code of its own for it.
func isThere(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && strings.Contains(api.Description, "maximum messages per subject")
}

// Withdraw takes the jobs of a sweep out of the queue. A worker that has one finishes it, and
// its result is kept.
func (q *Queue) Withdraw(ctx context.Context, sweep string) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		stream, err := q.js.Stream(ctx, streamName)
		if err != nil {
			return err
		}
		return stream.Purge(ctx, jetstream.WithPurgeSubject(q.jobSubject(sweep, "*")))
	})
	if err != nil {
		return fmt.Errorf("withdraw the jobs of a sweep: %w", err)
	}
	return nil
}

// Waiting counts the jobs that no worker has finished, of all sweeps.
func (q *Queue) Waiting(ctx context.Context) (n uint64, err error) {
	err = q.persist(ctx, func(ctx context.Context) error {
		stream, err := q.js.Stream(ctx, streamName)
		if err == nil {
			n = stream.CachedInfo().State.Msgs
		}
		return err
	})
	return n, err
}

// consumer is what the sweep made for its workers.
func (q *Queue) consumer(ctx context.Context) (jetstream.Consumer, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.workers != nil {
		return q.workers, nil
	}
	c, err := q.js.Consumer(ctx, streamName, workersName+q.settings)
	if err != nil {
		return nil, err
	}
	q.workers = c
	// The sweep says how long a worker may be silent.
	if wait := c.CachedInfo().Config.AckWait; wait > 0 {
		q.ackWait = wait
	}
	return c, nil
}

// Delivery is a job in a worker's hands.
type Delivery struct {
	Job []byte
	// Try counts the deliveries of this job, from 1.
	Try  int
	msg  jetstream.Msg
	stop context.CancelFunc
	done sync.WaitGroup
}

// noSweepWait is the time between two looks for a sweep.
const noSweepWait = 2 * time.Second

// Next waits for a job. While the worker has it, the queue is told so. The caller ends each
// delivery by Done or Again.
func (q *Queue) Next(ctx context.Context) (*Delivery, error) {
	var failing time.Time // since when nothing but errors came
	for {
		d, err := q.next(ctx)
		switch {
		case ctx.Err() != nil:
			if d != nil {
				_ = d.Again(0) // without it the queue waits for a sign of life
			}
			return nil, ctx.Err()
		case d != nil:
			return d, nil
		case err == nil:
			failing = time.Time{}
			continue
		case errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrStreamNotFound):
			failing = time.Time{} // no sweep has begun
		case failing.IsZero():
			failing = time.Now()
		case time.Since(failing) >= q.patience:
			return nil, fmt.Errorf("wait for a job: %w", q.because(err))
		}
		if err := pause(ctx, noSweepWait); err != nil {
			return nil, err
		}
	}
}

// next waits for a job for some seconds; nil is for none.
func (q *Queue) next(ctx context.Context) (*Delivery, error) {
	c, err := func() (jetstream.Consumer, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		return q.consumer(ctx)
	}()
	if err != nil {
		return nil, err
	}
	batch, err := c.Fetch(1, jetstream.FetchContext(ctx))
	if err == nil {
		for msg := range batch.Messages() {
			return q.deliver(msg), nil
		}
		err = batch.Error()
	}
	if err != nil && !errors.Is(err, nats.ErrTimeout) {
		q.mu.Lock()
		q.workers = nil // it may be gone, or made anew
		q.mu.Unlock()
		return nil, err
	}
	return nil, nil
}

func (q *Queue) deliver(msg jetstream.Msg) *Delivery {
	q.mu.Lock()
	every := q.ackWait / 3
	q.mu.Unlock()
	ctx, stop := context.WithCancel(context.Background())
	d := &Delivery{Job: msg.Data(), Try: 1, msg: msg, stop: stop}
	if m, err := msg.Metadata(); err == nil {
		d.Try = int(m.NumDelivered)
	}
	d.done.Go(func() {
		beat := time.NewTicker(every)
		defer beat.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
				_ = msg.InProgress() // a lost one is made good by the next
			}
		}
	})
	return d
}

func (d *Delivery) end() {
	d.stop()
	d.done.Wait()
}

// Done takes the job out of the queue. Where that fails the job is delivered again, and its
// result is found.
func (d *Delivery) Done(ctx context.Context) error {
	d.end()
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	if err := d.msg.DoubleAck(ctx); err != nil {
		return fmt.Errorf("acknowledge a job: %w", err)
	}
	return nil
}

// Again gives the job back, to be delivered after a while.
func (d *Delivery) Again(after time.Duration) error {
	d.end()
	if err := d.msg.NakWithDelay(after); err != nil {
		return fmt.Errorf("give a job back: %w", err)
	}
	return nil
}
