package run

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// recorder is a run's sink: everything goes to the log first, and then the
// server's lines to the client.
type recorder struct {
	dir    *os.Root
	header session.Header
	client *client.Client
	lines  *wire.Splitter
	// first is the phase in which the log begins, "" for the start.
	first string
	// secrets are the texts of real values that must not reach a file.
	secrets []string
	// held is the end of stderr that may be the beginning of one.
	held []byte
	// web says that the server is spoken to over HTTP: its stdout is for people.
	web bool
	// stop ends a run that cannot be logged.
	stop context.CancelCauseFunc

	mu   sync.Mutex
	log  *session.Log
	last time.Duration // latest stamp of the run's clock
	sent int64         // bytes handed to the run
	out  []outgoing    // lines sent and not yet delivered
	exit *session.EventExit
	// written are the files that the server made or opened for writing since the last call.
	written map[string]bool
	// ever are those of the whole run, in order, as far as they are kept.
	ever []string
	// ports are loopback's that an oracle's input names.
	ports map[int]bool
	// startup is what the server started beside itself.
	startup startup
	// preload is a library that the server is to load.
	preload preload
	// homes are those of others in which decoys were looked for.
	homes foreignHome
	// loopback says that a connection to the loopback address was refused.
	loopback bool
	// eof says that the server's stdout has ended, exited is closed at its exit.
	eof    bool
	exited chan struct{}
	// failure says why the run could not start, for an error's text.
	failure *session.EventError
	err     error
}

// outgoing is a line on its way to the server; from is its first byte's place in stdin.
type outgoing struct {
	from int64
	line []byte
}

// Stdout implements sandbox.Sink.
func (r *recorder) Stdout(stamp time.Duration, p []byte) {
	if r.web {
		r.Stderr(stamp, p)
		return
	}
	r.lines.Feed(p, func(l wire.Line) {
		r.frame(session.S2C, stamp, l.Raw)
		r.client.Feed(l.Raw)
	})
}

// frame logs a line of the wire at its stamp.
func (r *recorder) frame(d session.Dir, stamp time.Duration, line []byte) {
	r.mu.Lock()
	r.last = max(r.last, stamp)
	log := r.log
	r.mu.Unlock()
	if log != nil {
		log.Frame(d, stamp, r.redact(line))
	}
}

// Record implements sandbox.Sink.
func (r *recorder) Record(rec *trace.Record) {
	r.mu.Lock()
	log := r.log
	r.mu.Unlock()
	if log != nil {
		log.Record(r.redacted(rec))
	}
	r.wrote(rec)
	r.startup.record(rec)
	r.mu.Lock()
	r.preload.record(rec)
	r.homes.record(rec)
	r.mu.Unlock()
}

// maxWritten bounds the files that are searched after a call.
const maxWritten = 2000

// wrote notes a file that may hold a decoy now.
func (r *recorder) wrote(rec *trace.Record) {
	name := rec.Path
	switch {
	case !rec.OK():
		return
	case rec.Op == trace.OpRename || rec.Op == trace.OpLink && !strings.HasPrefix(rec.Call, "symlink"):
		name = rec.To
	case rec.Op != trace.OpOpen || !strings.Contains(rec.Flags, "O_WRONLY") && !strings.Contains(rec.Flags, "O_RDWR"):
		return
	}
	if !strings.HasPrefix(name, "/") || strings.HasPrefix(name, "/dev/") || strings.HasPrefix(name, "/proc/") {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.written == nil {
		r.written = map[string]bool{}
	}
	if len(r.written) <= maxWritten {
		r.written[name] = true
	}
}

// named notes the ports of an oracle's inputs: trying one is no errand of the server's own.
func (r *recorder) named(in []session.Injection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, i := range in {
		if i.Port != 0 {
			if r.ports == nil {
				r.ports = map[int]bool{}
			}
			r.ports[i.Port] = true
		}
	}
}

// takeWritten returns the files written since it was last asked.
func (r *recorder) takeWritten() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := slices.Sorted(maps.Keys(r.written))
	r.written = nil
	for _, name := range names {
		if len(r.ever) < maxWritten && !slices.Contains(r.ever, name) {
			r.ever = append(r.ever, name)
		}
	}
	return names
}

// Flow implements sandbox.Sink.
func (r *recorder) Flow(f *trace.Flow) {
	r.mu.Lock()
	r.last = max(r.last, f.Stamp)
	r.loopback = r.loopback || f.Type == trace.FlowRefused && f.Dest.Addr().Unmap().IsLoopback() && !r.ports[int(f.Dest.Port())]
	log := r.log
	r.mu.Unlock()
	if log != nil {
		f.Data = r.redact(f.Data)
		f.Path = string(r.redact([]byte(f.Path)))
		log.Flow(f)
	}
}

// Event implements sandbox.Sink.
func (r *recorder) Event(ev session.Event) {
	switch e := ev.Body.(type) {
	case session.EventReady:
		r.begin(ev.Stamp)
	case session.EventStdin:
		r.delivered(ev.Stamp, e)
		return // the frames' own marks say the same
	case session.EventSynced:
		return
	case session.EventOutlived:
		if r.web {
			return // nobody has told it to end but by the signal
		}
	case session.EventError:
		r.mu.Lock()
		r.failure = &e
		r.mu.Unlock()
	case session.EventEOF:
		if e.Stream == "stdout" && !r.web {
			r.mu.Lock()
			r.eof = true
			r.mu.Unlock()
			r.flushLine(ev.Stamp)
			r.client.Closed(errServerClosed)
		}
	case session.EventExit:
		r.mu.Lock()
		first := r.exit == nil
		r.exit = &e
		r.mu.Unlock()
		defer r.client.Closed(errServerEnded)
		if first {
			defer close(r.exited) // when it stands in the log
		}
	}
	r.mark(session.Mark{Time: ev.Stamp, Kind: session.MarkEvent, Event: &ev})
}

// awaitExit gives a server that has closed its stdout a moment to end: what ends
// by itself must not be taken for stopped.
func (r *recorder) awaitExit(ctx context.Context) {
	r.mu.Lock()
	eof := r.eof
	r.mu.Unlock()
	if !eof {
		return
	}
	select {
	case <-r.exited:
	case <-time.After(exitGrace):
	case <-ctx.Done():
	}
}

// flushLine records what stands unfinished on stdout when it ends.
func (r *recorder) flushLine(stamp time.Duration) {
	r.lines.Flush(func(l wire.Line) {
		r.frame(session.S2C, stamp, l.Raw)
		r.client.Feed(l.Raw)
	})
}

// begin creates the log on the clock that the agent named.
func (r *recorder) begin(stamp time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header.Started, r.header.Clock0 = time.Now().UTC(), stamp
	r.last = stamp
	r.log, r.err = session.Create(r.dir, r.header)
	if r.err != nil {
		r.stop(r.err)
		return
	}
	r.log.Mark(session.Mark{Time: stamp, Kind: session.MarkPhase, Phase: cmp.Or(r.first, "start")})
}

// delivered logs the lines whose first byte is about to reach the server.
func (r *recorder) delivered(stamp time.Duration, e session.EventStdin) {
	r.mu.Lock()
	var ready [][]byte
	for len(r.out) > 0 && r.out[0].from < e.Delivered {
		ready = append(ready, r.out[0].line)
		r.out = r.out[1:]
	}
	r.mu.Unlock()
	for _, l := range ready {
		r.frame(session.C2S, stamp, l)
	}
}

// TraceError implements sandbox.Sink.
func (r *recorder) TraceError(err error) {
	m := session.Mark{Time: r.now(), Kind: session.MarkLoss, N: 1, What: "lines of the tracer", Text: err.Error()}
	var loss *sandbox.LossError
	if errors.As(err, &loss) {
		m.What, m.N = "observations of the tracer", int64(min(loss.N, math.MaxInt64))
	}
	r.mark(m)
}

// now is the latest moment known of the run's clock.
func (r *recorder) now() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// mark logs a mark; one without a time is of now.
func (r *recorder) mark(m session.Mark) {
	r.mu.Lock()
	r.last = max(r.last, m.Time)
	if m.Time == 0 {
		m.Time = r.last
	}
	log := r.log
	r.mu.Unlock()
	if log != nil {
		log.Mark(m)
	}
}

// doubt logs a reason for which the run can not be called clean; phase is "" where
// it is of no phase.
func (r *recorder) doubt(code session.Code, phase finding.Phase, text string) {
	r.mark(session.Doubt(session.Gap{Code: code, Phase: string(phase), Text: text}))
}

// sending notes a line that is handed to the run, so that it can be logged when delivered.
func (r *recorder) sending(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = append(r.out, outgoing{r.sent, append([]byte(nil), line...)})
	r.sent += int64(len(line)) + 1
}

// spokenTo logs the port over which the server is spoken to.
func (r *recorder) spokenTo(port int) {
	now := r.now()
	r.mark(session.Mark{Time: now, Kind: session.MarkEvent, Event: &session.Event{Stamp: now, Body: session.EventPort{Port: port}}})
}

// posted logs a line that is sent over HTTP.
func (r *recorder) posted(line []byte) { r.frame(session.C2S, r.now(), line) }

// received logs a message that came over HTTP at its stamp, and hands it on.
func (r *recorder) received(stamp time.Duration, line []byte) {
	r.frame(session.S2C, max(stamp, r.now()), line)
	r.client.Feed(line)
}

// close logs what was never delivered and closes the log.
func (r *recorder) close() error {
	r.mu.Lock()
	rest, log, held := r.out, r.log, r.held
	r.out, r.held = nil, nil
	r.mu.Unlock()
	if log == nil {
		return r.err
	}
	r.printed(r.now(), held)
	if len(rest) > 0 {
		r.doubt(session.GapInputNotRead, "", "the server did not read all of its input")
	}
	for _, o := range rest {
		r.frame(session.C2S, r.now(), o.line)
	}
	return log.Close()
}
