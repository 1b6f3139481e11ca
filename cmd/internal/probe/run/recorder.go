package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// recorder is a run's sink: everything goes to the log first, and then the
// server's lines to the client.
type recorder struct {
	out    session.Output
	header session.Header
	client *client.Client
	lines  *wire.Splitter
	// first is the phase in which the log begins, "" for the start.
	first string
	// held is the last line of stderr, which may end within a passed value.
	held []byte
	// web says that the server is spoken to over HTTP: its stdout is for people.
	web bool
	// stop ends a run that cannot be logged.
	stop context.CancelCauseFunc

	// asked says that the server sent an HTTP request since it was last set.
	asked atomic.Bool

	mu    sync.Mutex
	log   *session.Log
	last  time.Duration // latest stamp of the run's clock
	sent  int64         // bytes handed to the run
	queue []outgoing    // lines sent and not yet delivered
	exit  *session.EventExit
	// written are the files that the server made or opened for writing since the last call.
	written map[string]bool
	// wroteAny says that there ever were any, unnamed counts those of unknown paths.
	wroteAny bool
	unnamed  int
	// ever are those of the whole run and the directories that it made, in order; forgotten
	// counts those beyond the bound.
	ever      []string
	forgotten int
	// own is the port over which the server is spoken to, 0 for none.
	own int
	// ports are loopback's that an oracle's input names.
	ports map[int]bool
	// startup is what the server started beside itself.
	startup startup
	// preload is a library that the server is to load.
	preload preload
	// homes are those of others in which decoys were looked for.
	homes foreignHome
	// noNames are hosts that were looked up and that cannot exist.
	noNames []string
	// loopback says that a connection to the loopback address was refused.
	loopback bool
	// early is what was to be logged before there was a log: what the agent could not set up.
	early []session.Mark
	// reach is what the server may have that looking at its tasks does not show.
	reach reach
	// sockets are those that the server bound.
	sockets sockets
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
		log.Frame(d, stamp, line)
	}
}

// Record implements sandbox.Sink.
func (r *recorder) Record(rec *trace.Record) {
	if r.idle(rec) {
		return
	}
	r.mu.Lock()
	log := r.log
	r.mu.Unlock()
	if log != nil {
		log.Record(rec)
	}
	r.wrote(rec)
	r.startup.record(rec)
	r.mu.Lock()
	r.preload.record(rec)
	r.homes.record(rec)
	r.reach.record(rec)
	r.sockets.record(rec)
	r.mu.Unlock()
}

// idle reports whether a record is a question about a file that says nothing: only below HOME can
// one be a look for secrets, and programs ask about all that they load.
func (r *recorder) idle(rec *trace.Record) bool {
	if rec.Op != trace.OpStat {
		return false
	}
	if c := trace.Calls[rec.Call]; c == nil || !c.Looks {
		return false
	}
	in := func(dir string) bool { return dir != "" && strings.HasPrefix(rec.Path, dir+"/") }
	return !in(r.header.Home) || in(r.header.ServerDir) || slices.ContainsFunc(r.header.Workspaces, in)
}

// maxWritten bounds the files that are searched after a call.
const maxWritten = 2000

// wrote notes a file that may hold a decoy now.
func (r *recorder) wrote(rec *trace.Record) {
	if !rec.OK() {
		return
	}
	var names []string
	switch {
	case rec.Op == trace.OpMkdir && strings.HasPrefix(rec.Call, "mkdir"):
		r.keep(rec.Path)
		return
	case rec.Op == trace.OpRename && strings.Contains(rec.Flags, "RENAME_EXCHANGE"):
		names = []string{rec.Path, rec.To}
	case rec.Op == trace.OpRename || rec.Op == trace.OpLink:
		names = []string{rec.To}
	case rec.Op == trace.OpOpen && (strings.Contains(rec.Flags, "O_WRONLY") || strings.Contains(rec.Flags, "O_RDWR")),
		rec.Op == trace.OpAttr && strings.Contains(rec.Call, "setxattr"):
		names = []string{rec.Path}
	case rec.Op != trace.OpMemfd:
		return
	}
	names = slices.DeleteFunc(names, ofTheKernel)
	r.mu.Lock()
	defer r.mu.Unlock()
	if rec.Op == trace.OpRename {
		names = append(names, r.within(rec.Path, rec.To)...)
	}
	r.wroteAny = r.wroteAny || len(names) > 0 || rec.Op == trace.OpMemfd
	if r.written == nil {
		r.written = map[string]bool{}
	}
	for _, name := range names {
		switch {
		case !strings.HasPrefix(name, "/"):
			r.unnamed++
		case len(r.written) <= maxWritten:
			r.written[name] = true
		}
	}
}

// keep notes a path that may last.
func (r *recorder) keep(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lasts(name)
}

func (r *recorder) lasts(name string) {
	switch {
	case !strings.HasPrefix(name, "/") || slices.Contains(r.ever, name):
	case len(r.ever) >= agent.MaxKept:
		r.forgotten++
	default:
		r.ever = append(r.ever, name)
	}
}

// within are the new names of what was written below a directory that is renamed.
func (r *recorder) within(from, to string) (names []string) {
	moved := func(name string) {
		if rest, ok := strings.CutPrefix(name, from+"/"); ok {
			names = append(names, to+"/"+rest)
		}
	}
	for _, name := range r.ever {
		moved(name)
	}
	for name := range r.written {
		moved(name)
	}
	return names
}

// ofTheKernel reports whether a name is of no file that keeps what is written to
// it: a device, a pipe, the kernel's own files.
func ofTheKernel(name string) bool {
	kind, _, ok := strings.Cut(name, ":[")
	if ok && !strings.Contains(kind, "/") || strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/") {
		return true
	}
	return strings.HasPrefix(name, "/dev/") && !strings.HasPrefix(name, "/dev/shm/") && !strings.HasPrefix(name, "/dev/mqueue/")
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

// takeWritten returns the files written since it was last asked, and whether the
// server has ever written any: it may hold them open.
func (r *recorder) takeWritten() (names []string, wrote bool) {
	r.mu.Lock()
	names = slices.Sorted(maps.Keys(r.written))
	r.written = nil
	for _, name := range names {
		r.lasts(name)
	}
	wrote = r.wroteAny
	unnamed := r.unnamed
	r.unnamed = 0
	r.mu.Unlock()
	if unnamed > 0 {
		r.doubt(session.GapFilesNotSearched, "", fmt.Sprintf("the paths of %d files that were written are not known", unnamed))
	}
	return names, wrote
}

// maxNoNames bounds the names that are kept of those that do not exist.
const maxNoNames = 100

// Flow implements sandbox.Sink.
func (r *recorder) Flow(f *trace.Flow) {
	r.mu.Lock()
	r.last = max(r.last, f.Stamp)
	if f.Type == trace.FlowRequest {
		r.asked.Store(true)
	}
	r.loopback = r.loopback || f.Type == trace.FlowRefused && f.Dest.Addr().Unmap().IsLoopback() && !r.ports[int(f.Dest.Port())]
	if f.NoName && (f.Method == "A" || f.Method == "AAAA") && len(r.noNames) < maxNoNames && !slices.Contains(r.noNames, f.Host) {
		r.noNames = append(r.noNames, f.Host)
	}
	log := r.log
	r.mu.Unlock()
	if log != nil {
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
		r.mu.Lock()
		r.last = max(r.last, ev.Stamp)
		r.mu.Unlock()
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
// maxEarly bounds the marks that are kept until the log begins.
const maxEarly = 100

func (r *recorder) begin(stamp time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.header.Started, r.header.Clock0 = time.Now().UTC(), stamp
	r.last = stamp
	r.log, r.err = r.out.Create(r.header)
	if r.err != nil {
		r.stop(r.err)
		return
	}
	r.log.Mark(session.Mark{Time: stamp, Kind: session.MarkPhase, Phase: cmp.Or(r.first, "start")})
	for _, m := range r.early {
		m.Time = stamp
		r.log.Mark(m)
	}
	r.early = nil
}

// delivered logs the lines whose first byte is about to reach the server.
func (r *recorder) delivered(stamp time.Duration, e session.EventStdin) {
	r.mu.Lock()
	var ready [][]byte
	for len(r.queue) > 0 && r.queue[0].from < e.Delivered {
		ready = append(ready, r.queue[0].line)
		r.queue = r.queue[1:]
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
	if log == nil && len(r.early) < maxEarly {
		r.early = append(r.early, m)
	}
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
	r.queue = append(r.queue, outgoing{r.sent, append([]byte(nil), line...)})
	r.sent += int64(len(line)) + 1
}

// spokenTo logs the port over which the server is spoken to.
func (r *recorder) spokenTo(port int) {
	r.mu.Lock()
	r.own = port
	r.mu.Unlock()
	now := r.now()
	r.mark(session.Mark{Time: now, Kind: session.MarkEvent, Event: &session.Event{Stamp: now, Body: session.EventPort{Port: port}}})
}

// listeners are the sockets that are to be spoken to, of the ports that there are, and the port over which the
// server is spoken to, 0 for none.
func (r *recorder) listeners(tcp, udp []int) (list []mux.Addr, own int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sockets.listeners(tcp, udp, r.own), r.own
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
	rest, log, held := r.queue, r.log, r.held
	r.queue, r.held = nil, nil
	r.mu.Unlock()
	if log == nil {
		return r.err
	}
	r.printed(r.now(), []byte(r.out.Redactor.Redact(string(held))))
	if len(rest) > 0 {
		r.doubt(session.GapInputNotRead, "", "the server did not read all of its input")
	}
	for _, o := range rest {
		r.frame(session.C2S, r.now(), o.line)
	}
	return log.Close()
}
