package queue

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// stopMark is the name of the mark that stops a queue: a file beside what the embedded
// queue keeps, since another process may hold that, or a key among a cluster's results,
// where each result has a dot in its name.
const stopMark = "stop"

// maxReason bounds the text of a mark, in bytes.
const maxReason = 1000

// Stop marks a queue: its sweeps and workers end, and none begins until Lift.
func Stop(ctx context.Context, o Options, reason string) error {
	if len(reason) == 0 || len(reason) > maxReason {
		return fmt.Errorf("a reason has 1 to %d bytes", maxReason)
	}
	if o.URL != "" {
		return marked(ctx, o, func(ctx context.Context, kv jetstream.KeyValue) error {
			_, err := kv.Put(ctx, stopMark, []byte(reason))
			return err
		})
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(o.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	// It takes the place of what is there, a link above all: the directory may be that of a checkout.
	return errors.Join(root.WriteFile(stopMark+".new", []byte(reason), 0o600), root.Rename(stopMark+".new", stopMark))
}

// Lift takes the mark of Stop away, if there is one.
func Lift(ctx context.Context, o Options) error {
	if o.URL != "" {
		return marked(ctx, o, func(ctx context.Context, kv jetstream.KeyValue) error {
			if err := kv.Purge(ctx, stopMark); !errors.Is(err, jetstream.ErrKeyNotFound) {
				return err
			}
			return nil
		})
	}
	if err := os.Remove(filepath.Join(o.Dir, stopMark)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// marked calls f with the results of a cluster, which it makes where no sweep has begun.
func marked(ctx context.Context, o Options, f func(context.Context, jetstream.KeyValue) error) error {
	o.Worker = true
	q, err := Open(ctx, o)
	if err != nil {
		return err
	}
	defer q.Close()
	return q.persist(ctx, func(ctx context.Context) error {
		kv, err := q.keptResults(ctx)
		if errors.Is(err, jetstream.ErrBucketNotFound) {
			kv, err = q.js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: resultsName, Replicas: max(o.Replicas, 1)})
		}
		if err != nil {
			return err
		}
		return f(ctx, kv)
	})
}

// Stopped is why the queue is stopped, "" where it is not.
func (q *Queue) Stopped(ctx context.Context) (reason string, err error) {
	if q.embedded != nil {
		reason, err = q.stopFile()
	} else {
		err = q.persist(ctx, func(ctx context.Context) error {
			reason, err = q.stopKey(ctx)
			return err
		})
	}
	if err != nil {
		return "", fmt.Errorf("look whether the queue is stopped: %w", err)
	}
	return reason, nil
}

func (q *Queue) stopFile() (string, error) {
	root, err := os.OpenRoot(q.dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	data, err := session.ReadFile(root, stopMark, maxReason)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return said(data), err
}

func (q *Queue) stopKey(ctx context.Context) (string, error) {
	kv, err := q.keptResults(ctx)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return "", nil // no sweep has begun
	}
	if err != nil {
		return "", err
	}
	e, err := kv.Get(ctx, stopMark)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return said(e.Value()[:min(len(e.Value()), maxReason)]), nil
}

// said is the reason of a mark; one that somebody made by hand may have none.
func said(data []byte) string {
	if data = bytes.TrimSpace(data); len(data) == 0 {
		return "no reason is given"
	}
	return string(data)
}
