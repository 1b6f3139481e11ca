package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/egress"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/seccomp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// maxStdin bounds the bytes that wait on the host for a target that does not read.
const maxStdin = 64 << 20

// ErrStdinFull says that the target has stopped reading and too much waits for it.
var ErrStdinFull = errors.New("the target does not read its stdin")

// ErrOver says that the run has ended.
var ErrOver = errors.New("the run is over")

// Run is a target alive in a sandbox.
type Run struct {
	conn Conn
	sink Sink
	out  *mux.Writer

	mu        sync.Mutex
	wake      *sync.Cond
	commands  []agent.Command
	queue     [][]byte // stdin to be sent; an empty element closes it
	queued    int
	sent      int64             // bytes of stdin sent
	delivered int64             // bytes of stdin that the agent says it delivers
	refused   bool              // the target closed its stdin
	writing   bool              // false ends the writer
	asked     map[int64]*answer // by the command's N
	nextAsk   int64
	exit      Exit

	conns   *mux.Endpoint
	egress  *egress.Dialer // nil where no host is allowed
	tracer  *watcher       // nil where the agent's stream brings the records
	reach   reach
	lost    atomic.Uint64
	started chan error // takes one: nil, or why the target did not start
	over    chan struct{}
	written chan struct{}
	release func() bool
	closing sync.Once
	closeBy error
}

// Start makes a sandbox, has its agent start the target and returns when it
// runs. What the run yields goes to the sink from then on and, for what
// precedes, before. Cancelling the context ends the run at any time. The
// sandbox is removed before Start returns an error.
func Start(ctx context.Context, b Backend, spec Spec, sink Sink) (*Run, error) {
	if len(spec.Command) == 0 {
		return nil, &UsageError{Err: errors.New("no command to run")}
	}
	conn, err := b.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	cfg := config(spec)
	conn.Config(cfg)
	r := newRun(conn, sink)
	r.connect(&spec)
	r.reach.places = spec.Places
	if err := r.watch(ctx, &spec); err != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
		return nil, err
	}
	r.release = context.AfterFunc(ctx, func() { r.shut(context.Cause(ctx)) })
	go r.write(cfg)
	go r.read(newDecoder(r, len(cfg.Strace) > 0))
	select {
	case err = <-r.started:
	case <-r.over:
		select {
		case err = <-r.started:
		default:
			err = r.lostAgent()
		}
	}
	if err == nil {
		return r, nil
	}
	r.shut(err)
	<-r.over
	<-r.written
	if cause := context.Cause(ctx); cause != nil {
		return nil, cause
	}
	return nil, err
}

func newRun(conn Conn, sink Sink) *Run {
	r := &Run{
		conn: conn, sink: sink, out: mux.NewWriter(conn), writing: true,
		asked: make(map[int64]*answer), started: make(chan error, 1),
		over: make(chan struct{}), written: make(chan struct{}),
	}
	r.wake = sync.NewCond(&r.mu)
	return r
}

// config is what the agent is told of a Spec; the backend adds its own.
func config(s Spec) *agent.Config {
	carrier := 0
	if s.Carry != nil {
		carrier = CarrierPort
	}
	var compare *agent.Compare
	if s.Compare {
		compare = &agent.Compare{Places: append([]string{s.User.Home}, s.Workspaces...)}
		if s.ServerDir != "" {
			compare.Except = []string{s.ServerDir}
		}
	}
	return &agent.Config{
		Carrier: carrier, Compare: compare, Await: s.Await,
		Command: s.Command, Dir: s.Dir, Env: s.Env, User: s.User, Hostname: s.Hostname,
		Files: s.Files, Watch: s.Watch, TraceSet: s.TraceSet, Limits: s.Limits, Network: s.Network, Canaries: s.Canaries,
		Policy: seccomp.Policy{AllowUserNS: s.AllowUserNS}, Hold: s.Places != nil,
	}
}

// Stdin queues bytes for the target and never waits: the sink may call it.
// When more than 64 MiB wait for a target that does not read, it fails.
func (r *Run) Stdin(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.writing {
		return ErrOver
	}
	if r.queued+len(p) > maxStdin {
		return ErrStdinFull
	}
	for len(p) > 0 {
		n := min(len(p), mux.MaxPayload)
		r.queue = append(r.queue, append([]byte(nil), p[:n]...))
		r.queued += n
		p = p[n:]
	}
	r.wake.Signal()
	return nil
}

// CloseStdin closes the target's stdin after what is queued.
func (r *Run) CloseStdin() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.writing {
		return ErrOver
	}
	r.queue = append(r.queue, nil)
	r.wake.Signal()
	return nil
}

// Sync returns when everything that the target has done up to now is with the
// sink: its output, its calls and its accesses. The sink must not call it. When
// the run is over everything already is.
func (r *Run) Sync(ctx context.Context) error {
	_, err := r.drained(ctx, agent.Command{Type: agent.CommandSync, Sockets: true})
	return err
}

// SyncCalls is a Sync for a target that has made no socket other than AF_UNIX: the sinkhole
// has seen nothing of it, and is not asked.
func (r *Run) SyncCalls(ctx context.Context) error {
	_, err := r.drained(ctx, agent.Command{Type: agent.CommandSync})
	return err
}

// Rest says how long Settle waits.
type Rest struct {
	// Most is the longest wait; a timer of the target's that is due within it is waited for.
	Most time.Duration
	// Least is the wait where rest cannot be shown, or where timers come again and again.
	Least time.Duration
	// Far has a wait of the target's that lasts longer be told as a loss, 0 for none.
	Far time.Duration
	// Sockets says that the target may have made sockets that lead out of its processes: as
	// long as it has one open, it is not shown to rest. Without, the sinkhole is not asked.
	Sockets bool
}

// Settle is a Sync that first waits until the target rests: until each of its tasks
// sleeps, has read what it was sent, and has no timer that is due. Timers other
// than the timeouts of the calls in which tasks wait (setitimer, timerfd_settime
// and the like) are not seen.
func (r *Run) Settle(ctx context.Context, rest Rest) error {
	r.mu.Lock()
	given := r.sent + int64(r.queued)
	r.mu.Unlock()
	_, err := r.drained(ctx, agent.Command{Type: agent.CommandSettle, Most: rest.Most, Least: rest.Least, Far: rest.Far, Sockets: rest.Sockets, Written: given})
	return err
}

// maxSearch bounds the paths of one Search: they go in one message.
const maxSearch = 128 << 10

// Search is a Sync that also looks for decoys in files which the target wrote: those
// at paths, and those that it holds open; the last search of a run also in those of
// earlier ones that have changed since. Each find is an event, as is each file that
// could not be searched. It says how many of the paths were too many.
func (r *Run) Search(ctx context.Context, paths []string, last bool) (left int, err error) {
	sent, left := asBytes(paths)
	_, err = r.drained(ctx, agent.Command{Type: agent.CommandSearch, Paths: sent, Last: last})
	return left, err
}

// asBytes are the paths that go in one message, and how many do not.
func asBytes(paths []string) (sent [][]byte, left int) {
	size := 0
	for i, p := range paths {
		if size += len(p) + 8; size > maxSearch {
			return sent, len(paths) - i
		}
		sent = append(sent, []byte(p))
	}
	return sent, 0
}

// Serve has the sinkhole answer HTTP requests with other things from now on. It returns when the next request will be
// answered so.
func (r *Run) Serve(ctx context.Context, served sinkhole.Served) error {
	if _, err := r.askFor(ctx, agent.Command{Type: agent.CommandTurn, Served: &served}); err != nil {
		return fmt.Errorf("change what the sinkhole answers: %w", err)
	}
	return nil
}

// maxCollected bounds the files of one Collect, maxCollectedBytes their bytes.
const maxCollected, maxCollectedBytes = agent.MaxKept, 16 << 20

// Collect returns what stands in files of a living target, those that are
// regular and small, and which of the paths are directories: what its next start
// would find. The target may write what it likes there. Files that it does not
// return, except those that are gone, are an event. It says how many of the paths
// were too many.
func (r *Run) Collect(ctx context.Context, paths []string) (files []rootfs.File, left int, err error) {
	sent, left := asBytes(paths)
	a, err := r.drained(ctx, agent.Command{Type: agent.CommandCollect, Paths: sent})
	if err != nil {
		return nil, left, err
	}
	return a.files, left, nil
}

// answer is what the agent said to a command. Nobody changes it once askFor has
// returned it.
type answer struct {
	answered bool
	files    []rootfs.File
	size     int // of the files
	ports    []int
	paths    []string // whose files were asked for
	done     chan struct{}
}

// askFor sends a command and returns its answer, as far as there is one when the
// run is over.
func (r *Run) askFor(ctx context.Context, c agent.Command) (*answer, error) {
	a := &answer{done: make(chan struct{})}
	for _, p := range c.Paths {
		a.paths = append(a.paths, string(p))
	}
	r.mu.Lock()
	r.nextAsk++
	c.N = r.nextAsk
	r.asked[c.N] = a
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.asked, c.N)
		r.mu.Unlock()
	}()
	r.command(c)
	select {
	case <-a.done:
	case <-r.over:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return a, nil
}

// drained is askFor where the agent drains the tracer before it answers.
func (r *Run) drained(ctx context.Context, c agent.Command) (*answer, error) {
	a, err := r.askFor(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("wait for the tracer's records: %w", err)
	}
	return a, nil
}

// Stop ends the target: its stdin is closed, after the grace it gets a TERM,
// after another the KILL, together with all it left behind. It returns when
// everything is with the sink. When the context ends first, the sandbox is closed.
func (r *Run) Stop(ctx context.Context, grace time.Duration) error {
	return r.stop(ctx, agent.Command{Type: agent.CommandStop, Grace: grace}, nil)
}

// StopThen is Stop that calls then when no process of the target's is left and its files
// still are: then may Search and Collect. It is not called where the sandbox is gone by
// then. With term it begins with TERM, as some clients do.
func (r *Run) StopThen(ctx context.Context, grace time.Duration, term bool, then func()) error {
	return r.stop(ctx, agent.Command{Type: agent.CommandStop, Grace: grace, Signal: term}, then)
}

func (r *Run) stop(ctx context.Context, c agent.Command, then func()) error {
	if then == nil {
		r.command(c)
	} else if a, err := r.askFor(ctx, c); err == nil && a.answered {
		then()
		r.command(agent.Command{Type: agent.CommandEnd})
	}
	select {
	case <-r.over:
		return nil
	case <-ctx.Done():
		r.shut(context.Cause(ctx))
		return fmt.Errorf("stop the target: %w", context.Cause(ctx))
	}
}

// Wait returns how the run ended, once everything is with the sink.
func (r *Run) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-r.over:
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.exit, nil
	case <-ctx.Done():
		return Exit{}, fmt.Errorf("wait for the target: %w", context.Cause(ctx))
	}
}

// Lost counts what was not seen or not understood: lines of the tracer, events
// of a kind that this host does not know, and the agent's own losses.
func (r *Run) Lost() uint64 { return r.lost.Load() }

// Close kills what runs and removes the sandbox. It is idempotent and safe at
// any time; it returns when nothing calls the sink any more.
func (r *Run) Close(ctx context.Context) error {
	if r.release != nil {
		r.release()
	}
	r.closing.Do(func() { r.closeBy = r.end(ctx) })
	for _, c := range []chan struct{}{r.over, r.written} {
		select {
		case <-c:
		case <-ctx.Done():
			return errors.Join(r.closeBy, fmt.Errorf("close the sandbox: %w", context.Cause(ctx)))
		}
	}
	return r.closeBy
}

// shut is Close where nobody waits for it and no context is left to bound it.
func (r *Run) shut(why error) {
	r.closing.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		r.mu.Lock()
		if r.exit.Reason == "" && why != nil {
			r.exit.Reason = why.Error()
		}
		r.mu.Unlock()
		r.closeBy = r.end(ctx)
	})
}

func (r *Run) end(ctx context.Context) error {
	err := r.conn.Close(ctx)
	r.stopWriting()
	if err != nil {
		return fmt.Errorf("close the sandbox: %w", err)
	}
	return nil
}

func (r *Run) stopWriting() {
	r.mu.Lock()
	r.writing = false
	r.wake.Signal()
	r.mu.Unlock()
}

func (r *Run) command(c agent.Command) {
	r.mu.Lock()
	r.commands = append(r.commands, c)
	r.wake.Signal()
	r.mu.Unlock()
}

// write sends the Config, then commands before stdin, and of stdin no more than the
// agent's window. What is said on connections goes beside that.
func (r *Run) write(cfg *agent.Config) {
	defer close(r.written)
	if agent.WriteConfig(r.out, cfg) != nil {
		return
	}
	var conns sync.WaitGroup
	defer conns.Wait()
	conns.Go(func() { _ = r.conns.Send(r.out) }) // who reads finds out that the stream is broken
	for {
		c, f, ok := r.nextWrite()
		if !ok {
			return
		}
		var err error
		if c != nil {
			err = agent.WriteCommand(r.out, *c)
		} else {
			err = r.out.Write(f)
		}
		if err != nil {
			r.stopWriting()
			return
		}
	}
}

func (r *Run) nextWrite() (*agent.Command, mux.Frame, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		switch {
		case !r.writing:
			return nil, mux.Frame{}, false
		case len(r.commands) > 0:
			c := r.commands[0]
			r.commands = r.commands[1:]
			return &c, mux.Frame{}, true
		case len(r.queue) > 0 && (r.sent-r.delivered < agent.StdinWindow-mux.MaxPayload || r.refused):
			p := r.queue[0]
			r.queue = r.queue[1:]
			r.queued -= len(p)
			r.sent += int64(len(p))
			return nil, mux.Frame{Stream: mux.Stdin, Payload: p}, true
		}
		r.wake.Wait()
	}
}

// lostAgent is the error for an agent that ended without saying why.
func (r *Run) lostAgent() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.exit.Reason != "" {
		return errors.New(r.exit.Reason)
	}
	return errors.New("the sandbox ended before the target started")
}

// lostReason explains a stream that ended without a good-bye.
func lostReason(err error, diagnostics string) string {
	reason := "the sandbox ended without notice"
	if err != nil && !errors.Is(err, io.EOF) {
		reason += ": " + err.Error()
	}
	if d := strings.TrimSpace(diagnostics); d != "" {
		reason += "; its agent said: " + d[max(0, len(d)-2000):]
	}
	return reason
}
