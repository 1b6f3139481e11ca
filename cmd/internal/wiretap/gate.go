package wiretap

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/tap"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxJudged is the longest line that is judged as one message.
const maxJudged = 8 << 20

// GateStdio is Stdio with a gate in the way: each line is judged before it passes.
func GateStdio(command []string, g *gate.Gate, o LogOptions) Exit {
	tap.Dedicate(96 << 20)
	server, side, err := launch(command)
	if err != nil {
		return notStarted(command[0], err, o.Say)
	}
	client := tap.Stdio()
	s := newGated(g, o.open(command[0]), client, side)
	stop := forward(server.Process)
	ended := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer close(ended)
		_ = server.Wait() // ProcessState has it all
		// The client may keep its end open for as long as we live.
		_ = client.CloseRead()
		cancel()
		timer := time.AfterFunc(linger, func() { _ = side.Close() })
		<-s.down
		timer.Stop()
	}()
	s.run(ctx)
	<-ended
	stop()
	s.journal.Close()
	o.shut(s.log, 0)
	return exitOf(server.ProcessState)
}

// gated is a session on stdio behind a gate.
type gated struct {
	session *gate.Session
	closed  bool
	journal *tap.Journal
	log     *session.WireLog
	client  end
	server  end
	down    chan struct{} // closed when the server's output has ended
}

// end is one peer. Two goroutines write whole lines to it.
type end struct {
	side *tap.Side
	mu   sync.Mutex
}

func (e *end) write(p []byte) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	_, err := e.side.Write(p)
	return err
}

func newGated(g *gate.Gate, log *session.WireLog, client, server *tap.Side) *gated {
	return &gated{session: g.Lines(), closed: g.Closed(), journal: tap.NewJournal(), log: log,
		client: end{side: client}, server: end{side: server}, down: make(chan struct{})}
}

// run passes lines both ways until both directions have ended.
func (s *gated) run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() {
		s.pass(session.C2S, &s.client, &s.server, func(line []byte) gate.Verdict { return s.session.Client(ctx, line) })
	})
	wg.Go(func() {
		defer close(s.down)
		s.pass(session.S2C, &s.server, &s.client, s.session.Server)
	})
	wg.Wait()
}

// pass passes one direction.
func (s *gated) pass(d session.Dir, from, to *end, judge func([]byte) gate.Verdict) {
	back := session.S2C
	if d == session.S2C {
		back = session.C2S
	}
	long := false // a line that is too long passes in pieces, or not at all
	err := eachLine(from.side, maxJudged, func(line []byte, more bool) error {
		if long || more {
			first := !long
			long = more
			return s.long(d, to, line, first)
		}
		v := judge(bytes.TrimRight(line, "\r\n"))
		s.put(d, line, v.Mark)
		if v.Reply != nil {
			s.put(back, v.Reply, v.Injected)
			if err := from.write(append(v.Reply, '\n')); err != nil {
				return err
			}
		}
		switch {
		case v.Pass == nil:
			return nil
		case v.Changed:
			s.put(d, v.Pass, v.Injected)
			return to.write(append(v.Pass, '\n'))
		}
		return to.write(line)
	})
	if err != nil {
		_ = from.side.CloseRead() // as a pipe would tell its writer
	}
	_ = to.side.CloseWrite() // it may be gone already
}

// long passes a piece of a line that is too long to be judged, where that may be.
func (s *gated) long(d session.Dir, to *end, piece []byte, first bool) error {
	action := "gate_skipped"
	if s.closed {
		action = "blocked"
	}
	if first {
		head := append(bytes.Clone(piece[:min(len(piece), wire.HeadSize)]), "… [cut]"...)
		s.put(d, head, &session.Gate{Action: action, Reason: fmt.Sprintf("longer than %d bytes", maxJudged)})
	}
	if s.closed {
		return nil
	}
	return to.write(piece)
}

func (s *gated) put(d session.Dir, raw []byte, mark *session.Gate) {
	if len(bytes.TrimSpace(raw)) > 0 {
		s.journal.Put(s.log, session.WireFrame{Dir: d, At: time.Now(), Raw: raw, Gate: mark})
	}
}

// eachLine calls f with each line and its end, until the stream ends or f fails.
// A line longer than max comes in pieces, all but the last with more.
func eachLine(src io.Reader, max int, f func(line []byte, more bool) error) error {
	r := bufio.NewReaderSize(src, 64<<10)
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if len(line) < max {
				continue
			}
			if ferr := f(line, true); ferr != nil {
				return ferr
			}
		case len(line) > 0:
			if ferr := f(line, false); ferr != nil {
				return ferr
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return nil // a peer that has gone is how a stream ends
		}
		if line = line[:0]; cap(line) > 1<<20 {
			line = nil
		}
	}
}
