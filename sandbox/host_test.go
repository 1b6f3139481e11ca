package sandbox_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// liar is a backend whose agent says what a test makes it say.
type liar struct {
	io.Reader
	once   sync.Once
	closed chan struct{}
}

func lie(stream []byte) *liar {
	return &liar{Reader: bytes.NewReader(stream), closed: make(chan struct{})}
}

func (l *liar) Name() string                                              { return "liar" }
func (l *liar) Supported(context.Context) sandbox.Support                 { return sandbox.Support{OK: sandbox.Yes} }
func (l *liar) Start(context.Context, sandbox.Spec) (sandbox.Conn, error) { return l, nil }
func (l *liar) Write(p []byte) (int, error)                               { return len(p), nil }
func (l *liar) Config(*agent.Config)                                      {}
func (l *liar) Diagnostics() string                                       { return "last words\n" }
func (l *liar) Close(context.Context) error                               { l.once.Do(func() { close(l.closed) }); return nil }

func say(frames ...any) []byte {
	var b bytes.Buffer
	w := mux.NewWriter(&b)
	for _, f := range frames {
		switch f := f.(type) {
		case session.Body:
			p, _ := session.EncodeEvent(session.Event{Stamp: 5, Body: f})
			_ = w.Write(mux.Frame{Stream: mux.Control, Payload: p})
		case mux.Frame:
			_ = w.Write(f)
		case string:
			b.WriteString(f)
		}
	}
	return b.Bytes()
}

var started = session.EventStarted{}

func TestAnAgentThatLies(t *testing.T) {
	for name, c := range map[string]struct {
		stream []byte
		want   string
	}{
		"silence":            {say(), "without notice; its agent said: last words"},
		"garbage":            {say("HTTP/1.1 400 Bad Request\r\n\r\n"), "where a frame begins"},
		"no good-bye":        {say(started), "without notice"},
		"garbage later":      {say(started, "garbage of some length"), "where a frame begins"},
		"cut":                {say(started, "\xc7\x02"), "unexpected EOF"},
		"bad event":          {say(started, mux.Frame{Payload: []byte("{")}), "decode the agent's event"},
		"event and more":     {say(started, mux.Frame{Payload: []byte(`{"type":"done","t":1} {}`)}), "more follows"},
		"another's member":   {say(started, mux.Frame{Payload: []byte(`{"type":"done","t":1,"n":1}`)}), "a member of another type"},
		"unknown field":      {say(started, mux.Frame{Payload: []byte(`{"type":"done","t":1,"x":1}`)}), "unknown field"},
		"negative number":    {say(started, mux.Frame{Payload: []byte(`{"type":"stdin","t":1,"n":-1}`)}), "negative"},
		"trace out of turn":  {say(started, mux.Frame{Stream: mux.Trace, Payload: []byte("1 2")}), "out of turn"},
		"bad connection":     {say(started, mux.Frame{Stream: mux.Conns, Payload: []byte("x")}), "message of 1 bytes"},
		"not connected":      {say(started, mux.Frame{Stream: mux.Conns, Payload: []byte("\x01\x00\x00\x00\x03data")}), "connection 1, which is not open"},
		"unwanted dial":      {say(started, mux.Frame{Stream: mux.Conns, Payload: []byte("\x02\x00\x00\x00\x01\x00\x50\x00example.com")}), "opened where none may be"},
		"a port that is not": {say(started, session.EventPorts{Ports: []int{80, 65536}}), "invalid port"},
		"a stream not its's": {say(started, mux.Frame{Stream: mux.Stdin, Payload: []byte("x")}), "a stdin frame"},
	} {
		t.Run(name, func(t *testing.T) {
			l := lie(c.stream)
			run, err := sandbox.Start(bounded(t), l, spec("true"), sandboxtest.NewRecorder())
			if err != nil {
				if !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
				<-l.closed
				return
			}
			x, err := run.Wait(bounded(t))
			if err != nil || !x.TracerDied || !strings.Contains(x.Reason, c.want) {
				t.Errorf("exit %+v, %v, want %q", x, err, c.want)
			}
			if err := run.Close(bounded(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// pusher is an agent that answers a collect with a stream of its own making.
type pusher struct {
	*liar
	out    *io.PipeWriter
	answer []byte
}

func (p *pusher) Start(context.Context, sandbox.Spec) (sandbox.Conn, error) { return p, nil }

func (p *pusher) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(`"type":"collect"`)) {
		go func() { _, _ = p.out.Write(p.answer) }() // who reads ends at the good-bye
	}
	return len(b), nil
}

// What an agent sends without being asked is no part of what is collected; the parts of a
// file are joined.
func TestCollectBelievesNothing(t *testing.T) {
	file := func(n int64, path string) session.EventFile {
		return session.EventFile{N: n, Path: path, Data: []byte("x")}
	}
	r, w := io.Pipe()
	p := &pusher{liar: &liar{Reader: r, closed: make(chan struct{})}, out: w, answer: say(
		file(2, "/asked"), file(0, "/asked"), file(1, "/etc/passwd"), file(1, "/asked"), file(1, "/asked"), session.EventSynced{N: 2},
		session.EventSynced{N: 1}, file(1, "/asked"), session.EventDone{})}
	go func() { _, _ = w.Write(say(started)) }()
	run, err := sandbox.Start(bounded(t), p, spec("true"), sandboxtest.NewRecorder())
	if err != nil {
		t.Fatal(err)
	}
	files, _, err := run.Collect(bounded(t), []string{"/asked", "/other"})
	if err != nil || len(files) != 1 || files[0].Path != "/asked" || string(files[0].Data) != "xx" {
		t.Errorf("collected %+v, %v", files, err)
	}
	if err := run.Close(bounded(t)); err != nil {
		t.Error(err)
	}
}

func TestUnknownEventsAreCountedAndPassedOn(t *testing.T) {
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(bounded(t), lie(say(started, session.EventUnknown{Type: "news", Raw: []byte(`{"type":"news","t":5,"x":1}`)},
		session.EventSynced{N: 99}, session.EventStdin{Delivered: 1 << 60},
		session.EventLoss{Reason: strings.Repeat("x", 100_000)}, session.EventDone{})), spec("true"), rec)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := run.Wait(bounded(t)); err != nil || x != (sandbox.Exit{}) {
		t.Errorf("exit %+v, %v", x, err)
	}
	if run.Lost() != 2 || len(sandboxtest.EventsOf[session.EventUnknown](rec)) != 1 {
		t.Errorf("%d lost, events %+v", run.Lost(), rec.Events())
	}
	if loss := sandboxtest.EventsOf[session.EventLoss](rec); len(loss) != 1 || len(loss[0].Reason) > 20_000 {
		t.Error("a long text was not cut")
	}
	if err := run.Stdin([]byte("x")); !errors.Is(err, sandbox.ErrOver) {
		t.Errorf("stdin after the end: %v", err)
	}
	if err := run.Sync(bounded(t)); err != nil {
		t.Errorf("sync after the end: %v", err)
	}
	if err := run.Stop(bounded(t), time.Second); err != nil {
		t.Errorf("stop after the end: %v", err)
	}
	for range 2 {
		if err := run.Close(bounded(t)); err != nil {
			t.Error(err)
		}
	}
}

// FuzzAgent feeds the host an agent's stream.
func FuzzAgent(f *testing.F) {
	f.Add(say(started, session.EventDone{}))
	f.Add(say(session.EventReady{Task: 7}, started, mux.Frame{Stream: mux.Trace, Payload: []byte("7 1.0 execve(\"/x\", [\"x\"], 0x0) = 0\n")}))
	f.Add(say(session.EventError{Reason: "no"}))
	f.Add(say(mux.Frame{Stream: mux.Stdout, Stamp: 3, Payload: []byte("{}\n")}))
	f.Add(say(started, mux.Frame{Stream: mux.Conns, Payload: []byte("\x01\x00\x00\x00\x06no")}))
	f.Add(say(started, session.EventFile{N: 1, Path: "/x", Data: []byte("x")}, session.EventPorts{N: 1, Ports: []int{80}}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		run, err := sandbox.Start(ctx, lie(stream), spec("true"), sandboxtest.NewRecorder())
		if err != nil {
			return
		}
		if _, err := run.Wait(ctx); err != nil {
			t.Error(err)
		}
		if err := run.Close(ctx); err != nil {
			t.Error(err)
		}
	})
}
