package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The names of what the queue keeps in NATS. A worker needs the rights to these alone.
const (
	streamName  = "COALMINE_JOBS"
	subject     = "coalmine.jobs."
	workersName = "workers"
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
}

// Queue is a connection to the queue. It is safe for concurrent use.
type Queue struct {
	embedded *server.Server
	conn     *nats.Conn
	js       jetstream.JetStream
	workers  jetstream.Consumer
	results  jetstream.KeyValue
	runs     jetstream.ObjectStore
	ackWait  time.Duration
}

// Open starts or reaches the queue. The caller closes it.
func Open(ctx context.Context, o Options) (_ *Queue, err error) {
	q := &Queue{ackWait: o.AckWait}
	if q.ackWait <= 0 {
		q.ackWait = time.Minute
	}
	defer func() {
		if err != nil {
			q.Close()
		}
	}()
	if err := q.connect(o); err != nil {
		return nil, err
	}
	if q.js, err = jetstream.New(q.conn); err != nil {
		return nil, fmt.Errorf("open the queue: %w", err)
	}
	return q, q.prepare(ctx, max(o.Replicas, 1))
}

// startTime bounds how long the embedded server takes to start: it reads what is left of
// an earlier sweep.
const startTime = 30 * time.Second

func (q *Queue) connect(o Options) (err error) {
	options := []nats.Option{nats.Name("coalmine sweep"), nats.MaxReconnects(-1), nats.RetryOnFailedConnect(o.URL != "")}
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
	return nil
}

// prepare makes what is missing of the queue.
func (q *Queue) prepare(ctx context.Context, replicas int) error {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	stream, err := q.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: streamName, Subjects: []string{subject + ">"}, Retention: jetstream.WorkQueuePolicy, Storage: jetstream.FileStorage, Replicas: replicas, Duplicates: time.Hour,
	})
	if err != nil {
		return fmt.Errorf("prepare the queue of jobs: %w", err)
	}
	q.workers, err = stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: workersName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: q.ackWait, MaxDeliver: -1, MaxAckPending: 10_000,
	})
	if err != nil {
		return fmt.Errorf("prepare the queue of jobs: %w", err)
	}
	if q.results, err = q.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: resultsName, Replicas: replicas}); err != nil {
		return fmt.Errorf("prepare the results: %w", err)
	}
	q.runs, err = q.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: runsName, Replicas: replicas, Compression: true})
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

// Add puts a job into the queue. One of the same sweep and name that is still in it is
// not added again.
func (q *Queue) Add(ctx context.Context, sweep, name string, job []byte) error {
	_, err := q.js.Publish(ctx, subject+sweep, job, jetstream.WithMsgID(sweep+"."+name))
	if err != nil {
		return fmt.Errorf("add a job to the queue: %w", err)
	}
	return nil
}

// Waiting counts the jobs that no worker has finished.
func (q *Queue) Waiting(ctx context.Context) (uint64, error) {
	stream, err := q.js.Stream(ctx, streamName)
	if err != nil {
		return 0, err
	}
	info, err := stream.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.State.Msgs, nil
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

// Next waits for a job. While the worker has it, the queue is told so. The caller ends each
// delivery by Done or Again.
func (q *Queue) Next(ctx context.Context) (*Delivery, error) {
	for {
		batch, err := q.workers.Fetch(1, jetstream.FetchContext(ctx))
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("wait for a job: %w", err)
		}
		for msg := range batch.Messages() {
			return q.deliver(msg), nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) && !errors.Is(err, jetstream.ErrNoHeartbeat) {
			return nil, fmt.Errorf("wait for a job: %w", err)
		}
	}
}

func (q *Queue) deliver(msg jetstream.Msg) *Delivery {
	ctx, stop := context.WithCancel(context.Background())
	d := &Delivery{Job: msg.Data(), Try: 1, msg: msg, stop: stop}
	if m, err := msg.Metadata(); err == nil {
		d.Try = int(m.NumDelivered)
	}
	d.done.Go(func() {
		beat := time.NewTicker(q.ackWait / 3)
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

// Done takes the job out of the queue.
func (d *Delivery) Done(ctx context.Context) error {
	d.end()
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

// PutResult keeps the result of a job; the first one counts.
func (q *Queue) PutResult(ctx context.Context, sweep, name string, result []byte) error {
	_, err := q.results.Create(ctx, sweep+"."+name, result)
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return fmt.Errorf("keep a result: %w", err)
	}
	return nil
}

// Results calls take with each result of a sweep, those that are there first, until it
// returns false or an error, or the context ends.
func (q *Queue) Results(ctx context.Context, sweep string, take func(name string, result []byte) (more bool, err error)) error {
	w, err := q.results.Watch(ctx, sweep+".*", jetstream.IgnoreDeletes())
	if err != nil {
		return fmt.Errorf("watch the results: %w", err)
	}
	defer func() { _ = w.Stop() }() // the connection ends it too
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e, ok := <-w.Updates():
			if !ok {
				return errors.New("the queue ended while results were awaited")
			}
			if e == nil { // all that were there are delivered
				continue
			}
			more, err := take(strings.TrimPrefix(e.Key(), sweep+"."), e.Value())
			if err != nil || !more {
				return err
			}
		}
	}
}

// Forget removes the results of a sweep, and what is left of its runs.
func (q *Queue) Forget(ctx context.Context, sweep string) error {
	keys, err := q.results.ListKeysFiltered(ctx, sweep+".*")
	if err != nil {
		return fmt.Errorf("list the results: %w", err)
	}
	var names []string
	for key := range keys.Keys() {
		names = append(names, strings.TrimPrefix(key, sweep+"."))
	}
	for _, name := range names {
		if err := q.results.Purge(ctx, sweep+"."+name); err != nil && !errors.Is(err, jetstream.ErrKeyNotFound) {
			return fmt.Errorf("remove a result: %w", err)
		}
	}
	return nil
}

// PutRun keeps the files of a job's run.
func (q *Queue) PutRun(ctx context.Context, sweep, name string, from io.Reader) error {
	if _, err := q.runs.Put(ctx, jetstream.ObjectMeta{Name: sweep + "." + name}, from); err != nil {
		return fmt.Errorf("keep a run: %w", err)
	}
	return nil
}

// Run gives the files of a job's run; the caller closes it.
func (q *Queue) Run(ctx context.Context, sweep, name string) (io.ReadCloser, error) {
	r, err := q.runs.Get(ctx, sweep+"."+name)
	if err != nil {
		return nil, fmt.Errorf("fetch a run: %w", err)
	}
	return r, nil
}

// ForgetRun removes the files of a job's run.
func (q *Queue) ForgetRun(ctx context.Context, sweep, name string) error {
	if err := q.runs.Delete(ctx, sweep+"."+name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return fmt.Errorf("remove a run: %w", err)
	}
	return nil
}
