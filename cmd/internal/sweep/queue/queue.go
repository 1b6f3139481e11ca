package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names of what the queue keeps in NATS. docs/sweep.md lists the rights that a worker
// needs to them.
const (
	streamName  = "COALMINE_SWEEP"
	subject     = "coalmine.sweep."
	workersName = "workers-"
	resultsName = "coalmine-results"
	runsName    = "coalmine-runs"
)

// Options say where the queue is.
type Options struct {
	// Dir keeps the embedded queue; it is used where URL is "".
	Dir string
	// URL are addresses of a cluster, "nats://" or "tls://", with commas between.
	URL string
	// Credentials is a file of NATS credentials, CA one of certificates; "" for none.
	Credentials, CA string
	// Replicas is how many nodes of a cluster keep each message, 0 for one.
	Replicas int
	// AckWait is after how long without a sign of life a job is given to another worker;
	// 0 is a minute.
	AckWait time.Duration
	// Settings is a word of letters and digits: a worker gets the jobs of its own word alone.
	Settings string
	// Worker is whether this process only works: it makes nothing in a cluster, and waits
	// for a sweep to do so.
	Worker bool
}

// Queue is a connection to the queue. It is safe for concurrent use.
type Queue struct {
	embedded *server.Server
	dir      string // of the embedded queue
	conn     *nats.Conn
	js       jetstream.JetStream
	settings string
	ackWait  time.Duration
	// patience is how long what a cluster refuses is tried again.
	patience time.Duration

	mu      sync.Mutex // guards those below, which are looked up when first needed
	workers jetstream.Consumer
	results jetstream.KeyValue
	runs    jetstream.ObjectStore
}

const (
	// startTime bounds how long the embedded server takes to start: it reads what is left of
	// an earlier sweep. It is also how long a cluster may take to be reached.
	startTime = 30 * time.Second
	// clusterPatience is longer than a cluster takes to miss a node and choose a leader.
	clusterPatience = 3 * time.Minute
	requestTime     = 5 * time.Second
)

// Open starts or reaches the queue. The caller closes it.
func Open(ctx context.Context, o Options) (_ *Queue, err error) {
	q := &Queue{ackWait: o.AckWait, settings: o.Settings, dir: o.Dir}
	if q.ackWait <= 0 {
		q.ackWait = time.Minute
	}
	if o.URL != "" {
		q.patience = clusterPatience
	}
	defer func() {
		if err != nil {
			q.Close()
		}
	}()
	if err := q.connect(ctx, o); err != nil {
		return nil, err
	}
	if q.js, err = jetstream.New(q.conn); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	if o.Worker {
		return q, nil
	}
	return q, q.prepare(ctx, max(o.Replicas, 1))
}

func (q *Queue) connect(ctx context.Context, o Options) (err error) {
	options := []nats.Option{nats.Name("coalmine sweep"), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second), nats.RetryOnFailedConnect(o.URL != "")}
	// LastError has what else it would print.
	options = append(options, nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	address := o.URL
	if address == "" {
		q.embedded, err = server.NewServer(&server.Options{ServerName: "coalmine", DontListen: true, JetStream: true, StoreDir: o.Dir, NoSigs: true, NoLog: true})
		if err != nil {
			return fmt.Errorf("start the queue in %s: %w", o.Dir, err)
		}
		q.embedded.Start()
		if !q.embedded.ReadyForConnections(startTime) {
			return fmt.Errorf("the queue in %s does not start: is another sweep using it, or the disk full?", o.Dir)
		}
		options = append(options, nats.InProcessServer(q.embedded))
	}
	if q.conn, err = nats.Connect(address, options...); err != nil {
		return fmt.Errorf("reach the queue: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for q.conn.Status() != nats.CONNECTED {
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("reach the queue: %w", q.because(err))
		}
	}
	return nil
}

// Connected reports whether the queue can be reached at this moment.
func (q *Queue) Connected() bool { return q.conn.Status() == nats.CONNECTED }

// because adds to an error what the server said last: a missing right is answered by
// nothing else.
func (q *Queue) because(err error) error {
	if said := q.conn.LastError(); err != nil && said != nil && !errors.Is(err, said) {
		return fmt.Errorf("%w (the queue said: %w)", err, said)
	}
	return err
}

// persist calls f until it succeeds, the context ends, or patience does.
func (q *Queue) persist(ctx context.Context, f func(ctx context.Context) error) error {
	start := time.Now()
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := q.bounded(ctx, f)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Since(start) >= q.patience:
			return q.because(err)
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

func (q *Queue) bounded(ctx context.Context, f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	return f(ctx)
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// prepare makes what is missing of the queue.
func (q *Queue) prepare(ctx context.Context, replicas int) error {
	err := q.persist(ctx, func(ctx context.Context) error {
		// A job that is still in the queue is refused a second time, by its subject.
		_, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Subjects: []string{subject + ">"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Replicas: replicas,
			MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("prepare the queue of jobs: %w", err)
	}
	err = q.persist(ctx, func(ctx context.Context) (err error) {
		q.workers, err = q.js.CreateOrUpdateConsumer(ctx, streamName, jetstream.ConsumerConfig{
			Durable: workersName + q.settings, FilterSubject: subject + q.settings + ".>", AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.ackWait, MaxDeliver: -1, MaxAckPending: 10_000,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("prepare the queue of jobs: %w", err)
	}
	err = q.persist(ctx, func(ctx context.Context) (err error) {
		q.results, err = q.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: resultsName, Replicas: replicas})
		return err
	})
	if err != nil {
		return fmt.Errorf("prepare the results: %w", err)
	}
	err = q.persist(ctx, func(ctx context.Context) (err error) {
		q.runs, err = q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: runsName, Replicas: replicas, Compression: true})
		return err
	})
	if err != nil {
		return fmt.Errorf("prepare the runs: %w", err)
	}
	return nil
}

// Close ends the connection, and the embedded queue. What is in it stays.
func (q *Queue) Close() {
	if q.conn != nil {
		q.conn.Close()
	}
	if q.embedded != nil {
		q.embedded.Shutdown()
		q.embedded.WaitForShutdown()
	}
}
