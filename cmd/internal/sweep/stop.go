package sweep

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/queue"
)

// StoppedError ends a sweep or a worker whose queue is stopped.
type StoppedError struct{ Reason string }

// Error implements error.
func (e *StoppedError) Error() string { return fmt.Sprintf("the queue is stopped: %s", e.Reason) }

// stopPoll is the time between two looks for the mark that stops a queue.
const stopPoll = 2 * time.Second

// untilStopped calls f, whose context ends when the queue is stopped; the error is a
// StoppedError then. In a queue that is stopped already f is not called.
func untilStopped(ctx context.Context, q *queue.Queue, f func(ctx context.Context) error) error {
	if reason, err := q.Stopped(ctx); err != nil || reason != "" {
		return errors.Join(err, stoppedBy(reason))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		look := time.NewTicker(stopPoll)
		defer look.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			}
			// A queue that does not answer now may answer the next time.
			if reason, err := q.Stopped(ctx); err == nil && reason != "" {
				cancel(stoppedBy(reason))
			}
		}
	})
	err := f(ctx)
	var stopped *StoppedError
	if err != nil && errors.As(context.Cause(ctx), &stopped) {
		err = stopped
	}
	cancel(nil)
	watch.Wait()
	return err
}

func stoppedBy(reason string) error {
	if reason == "" {
		return nil
	}
	return &StoppedError{reason}
}
