package tap

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// ends are the client's and the server's own ends of a relay, and what it said at its end.
type ends struct {
	toRelay, serverOut *os.File // written to by the client, by the server
	fromRelay, toStdin *os.File // read from by the client, by the server
	done               chan struct{}
	stats              Stats
	err                error
}

func start(ctx context.Context, t *testing.T, rec Recorder, drain time.Duration) *ends {
	t.Helper()
	before := runtime.NumGoroutine()
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	clientR, clientW := pipe()
	stdinR, stdinW := pipe()
	stdoutR, stdoutW := pipe()
	backR, backW := pipe()
	e := &ends{toRelay: clientW, fromRelay: backR, toStdin: stdinR, serverOut: stdoutW, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.stats, e.err = relay(ctx, Join(clientR, backW), Join(stdoutR, stdinW), rec, drain)
	}()
	t.Cleanup(func() {
		for _, f := range []*os.File{e.toRelay, e.fromRelay, e.toStdin, e.serverOut} {
			f.Close()
		}
		<-e.done
		if drain == drainTimeout {
			noLeak(t, before)
		}
	})
	return e
}

// noLeak waits until no more goroutines run than before.
func noLeak(t *testing.T, before int) {
	deadline := time.Now().Add(10 * time.Second)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Errorf("goroutines leaked:\n%s", buf[:runtime.Stack(buf, true)])
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// memory is a recorder that keeps everything.
type memory struct {
	mu    sync.Mutex
	bytes map[session.Dir][]byte
	order []string
	lost  int64
	ended map[session.Dir]int
}

func newMemory() *memory {
	return &memory{bytes: map[session.Dir][]byte{}, ended: map[session.Dir]int{}}
}

func (m *memory) Bytes(d session.Dir, _ time.Duration, p []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes[d] = append(m.bytes[d], p...)
	m.order = append(m.order, string(d))
}

func (m *memory) Lost(_ session.Dir, _ time.Duration, n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.lost += n
}

func (m *memory) End(d session.Dir, _ time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended[d]++
}

func write(t *testing.T, w *os.File, p string) {
	t.Helper()
	if _, err := w.WriteString(p); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, r *os.File, n int) string {
	t.Helper()
	p := make([]byte, n)
	if _, err := io.ReadFull(r, p); err != nil {
		t.Fatal(err)
	}
	return string(p)
}

func TestBytesAreUntouched(t *testing.T) {
	rec := newMemory()
	e := start(t.Context(), t, rec, drainTimeout)
	const size = maxQueued / 4 // each way: a recorder that never gets to run drops nothing of it
	send := func(seed uint64, w *os.File) func() {
		return func() {
			rng := rand.New(rand.NewPCG(seed, 1))
			for left := size; left > 0; {
				p := make([]byte, min(left, 1+rng.IntN(200_000)))
				for i := range p {
					p[i] = byte(rng.Uint32())
				}
				if _, err := w.Write(p); err != nil {
					t.Error(err)
					return
				}
				left -= len(p)
			}
			w.Close()
		}
	}
	sums := make(map[string][32]byte)
	var mu sync.Mutex
	sum := func(name string, r io.Reader) func() {
		return func() {
			all, err := io.ReadAll(r)
			if err != nil || len(all) != size {
				t.Errorf("%s: %d bytes, %v", name, len(all), err)
			}
			mu.Lock()
			defer mu.Unlock()
			sums[name] = sha256.Sum256(all)
		}
	}
	var wg sync.WaitGroup
	for _, f := range []func(){send(1, e.toRelay), send(2, e.serverOut), sum("c2s", e.toStdin), sum("s2c", e.fromRelay)} {
		wg.Go(f)
	}
	wg.Wait()
	<-e.done
	if e.err != nil || e.stats.ToServer != size || e.stats.ToClient != size || e.stats.Unrecorded != 0 || e.stats.RecorderErr != nil {
		t.Errorf("%+v, %v", e.stats, e.err)
	}
	for _, d := range []session.Dir{session.C2S, session.S2C} {
		if sha256.Sum256(rec.bytes[d]) != sums[string(d)] {
			t.Errorf("%s: what was recorded is not what passed", d)
		}
		if rec.ended[d] != 1 {
			t.Errorf("%s ended %d times", d, rec.ended[d])
		}
	}
}

func TestHalfClose(t *testing.T) {
	e := start(t.Context(), t, newMemory(), drainTimeout)
	write(t, e.toRelay, "last words\n")
	e.toRelay.Close()
	if got, err := io.ReadAll(e.toStdin); string(got) != "last words\n" || err != nil {
		t.Errorf("the server read %q, %v", got, err)
	}
	write(t, e.serverOut, "still here\n")
	if got := read(t, e.fromRelay, 11); got != "still here\n" {
		t.Errorf("the client read %q", got)
	}
	e.serverOut.Close()
	<-e.done
	if e.err != nil {
		t.Error(e.err)
	}
}

func TestServerClosesStdoutAndLivesOn(t *testing.T) {
	e := start(t.Context(), t, newMemory(), drainTimeout)
	e.serverOut.Close()
	if got, err := io.ReadAll(e.fromRelay); len(got) > 0 || err != nil {
		t.Errorf("the client read %q, %v", got, err)
	}
	write(t, e.toRelay, "go on\n")
	if got := read(t, e.toStdin, 6); got != "go on\n" {
		t.Errorf("the server read %q", got)
	}
}

func TestReaderGone(t *testing.T) {
	e := start(t.Context(), t, newMemory(), drainTimeout)
	e.fromRelay.Close()
	for {
		if _, err := e.serverOut.WriteString("is anybody there?\n"); errors.Is(err, syscall.EPIPE) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	e.toRelay.Close()
	<-e.done
	if e.err != nil {
		t.Errorf("a peer that left is an error: %v", e.err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	e := start(ctx, t, newMemory(), drainTimeout)
	write(t, e.toRelay, "x\n")
	read(t, e.toStdin, 2)
	cancel()
	<-e.done
	if !errors.Is(e.err, context.Canceled) || e.stats.ToServer != 2 {
		t.Errorf("%+v, %v", e.stats, e.err)
	}
}

// blocked is a recorder that waits until it is let go.
type blocked struct {
	*memory
	free chan struct{}
}

func (b blocked) Bytes(d session.Dir, stamp time.Duration, p []byte) {
	<-b.free
	b.memory.Bytes(d, stamp, p)
}

func TestSlowRecorderCostsRecordsNeverBytes(t *testing.T) {
	rec := blocked{newMemory(), make(chan struct{})}
	e := start(t.Context(), t, rec, drainTimeout)
	const size = maxQueued * 3 / 2
	go func() {
		chunk := bytes.Repeat([]byte("x"), 1<<20)
		for range size >> 20 {
			e.serverOut.Write(chunk)
		}
		e.serverOut.Close()
	}()
	if n, err := io.Copy(io.Discard, e.fromRelay); n != size || err != nil {
		t.Errorf("%d bytes passed, %v", n, err)
	}
	e.toRelay.Close()
	close(rec.free)
	<-e.done
	recorded := int64(len(rec.bytes[session.S2C]))
	if e.stats.Unrecorded == 0 || e.stats.Unrecorded+recorded != size || rec.lost != e.stats.Unrecorded {
		t.Errorf("%d recorded, %d told as lost, %+v", recorded, rec.lost, e.stats)
	}
	if rec.ended[session.S2C] != 1 {
		t.Error("no end")
	}
}

func TestHangingRecorder(t *testing.T) {
	rec := blocked{newMemory(), make(chan struct{})}
	defer close(rec.free)
	e := start(t.Context(), t, rec, time.Millisecond)
	write(t, e.toRelay, "x\n")
	e.toRelay.Close()
	e.serverOut.Close()
	<-e.done
	if e.stats.RecorderErr == nil || e.stats.Unrecorded != 2 || e.err != nil {
		t.Errorf("%+v, %v", e.stats, e.err)
	}
}

type panicking struct{ *memory }

func (panicking) Bytes(session.Dir, time.Duration, []byte) { panic("disk on fire") }

func TestPanickingRecorder(t *testing.T) {
	e := start(t.Context(), t, panicking{newMemory()}, drainTimeout)
	for i := range 3 {
		line := fmt.Sprintf("line %d\n", i)
		write(t, e.toRelay, line)
		if got := read(t, e.toStdin, len(line)); got != line {
			t.Errorf("the server read %q", got)
		}
	}
	e.toRelay.Close()
	e.serverOut.Close()
	<-e.done
	if e.stats.RecorderErr == nil || !strings.Contains(e.stats.RecorderErr.Error(), "disk on fire") || e.stats.Unrecorded != 21 || e.err != nil {
		t.Errorf("%+v, %v", e.stats, e.err)
	}
}

func TestAnswersFollowQuestions(t *testing.T) {
	rec := newMemory()
	e := start(t.Context(), t, rec, drainTimeout)
	for range 500 {
		write(t, e.toRelay, "ping\n")
		read(t, e.toStdin, 5)
		write(t, e.serverOut, "pong\n")
		read(t, e.fromRelay, 5)
	}
	e.toRelay.Close()
	e.serverOut.Close()
	<-e.done
	for i, d := range rec.order {
		if want := []string{"c2s", "s2c"}[i%2]; d != want {
			t.Fatalf("chunk %d is %s", i, d)
		}
	}
	if len(rec.order) != 1000 {
		t.Errorf("%d chunks", len(rec.order))
	}
}

// TestLargeInTurns sends what goes past the recorder's memory, and more of it than
// its pipe holds, with an answer to each.
func TestLargeInTurns(t *testing.T) {
	rec := newMemory()
	e := start(t.Context(), t, rec, drainTimeout)
	const rounds = 12
	sent := map[session.Dir][]byte{}
	for i := range rounds {
		for _, way := range []struct {
			d        session.Dir
			from, to *os.File
		}{{session.C2S, e.toRelay, e.toStdin}, {session.S2C, e.serverOut, e.fromRelay}} {
			frame := fmt.Appendf(nil, "%d%s\n", i, bytes.Repeat([]byte{byte('a' + i)}, 300_000+i))
			sent[way.d] = append(sent[way.d], frame...)
			go way.from.Write(frame)
			if got := read(t, way.to, len(frame)); got != string(frame) {
				t.Fatalf("frame %d of %s differs", i, way.d)
			}
		}
	}
	e.toRelay.Close()
	e.serverOut.Close()
	<-e.done
	if e.err != nil || e.stats.Unrecorded != 0 || e.stats.ToServer != int64(len(sent[session.C2S])) {
		t.Errorf("%+v, %v", e.stats, e.err)
	}
	turns := slices.Compact(rec.order)
	for d, want := range sent {
		if !bytes.Equal(rec.bytes[d], want) {
			t.Errorf("%s: what was recorded is not what passed", d)
		}
	}
	if len(turns) != 2*rounds || turns[0] != "c2s" {
		t.Errorf("the turns are recorded as %v", turns)
	}
}

// TestClosedWhileWaiting ends a Read that waits for a client that says nothing
// and never leaves.
func TestClosedWhileWaiting(t *testing.T) {
	for range 50 {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		back, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		s := Join(r, out)
		ended := make(chan error)
		go func() {
			n, err := s.Read(make([]byte, 10))
			if n > 0 {
				err = fmt.Errorf("%d bytes that nobody sent", n)
			}
			ended <- err
		}()
		if err := s.CloseRead(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, fs.ErrClosed) {
			t.Fatal(err)
		}
		if _, err := s.Read(make([]byte, 10)); !errors.Is(err, fs.ErrClosed) {
			t.Fatal(err)
		}
		for _, f := range []io.Closer{s.w, w, back} {
			f.Close()
		}
	}
}

func TestTapAnyChunking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		stream := []byte(rapid.StringOf(rapid.SampledFrom([]rune("ab{}\"é\r\n\n"))).Draw(t, "stream"))
		run := func(chunks [][]byte) (logged []string) {
			tap := New(func(d session.Dir, _ time.Duration, raw []byte) { logged = append(logged, string(d)+string(raw)) }, 6)
			for _, c := range chunks {
				tap.Bytes(session.S2C, 1, c)
			}
			tap.End(session.S2C, 2)
			return logged
		}
		var chunks [][]byte
		for rest := stream; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "chunk")
			chunks = append(chunks, slices.Clone(rest[:n]))
			rest = rest[n:]
		}
		if diff := cmp.Diff(run([][]byte{stream}), run(chunks)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestTap(t *testing.T) {
	var got []string
	tap := New(func(d session.Dir, stamp time.Duration, raw []byte) {
		got = append(got, fmt.Sprintf("%s %d %s", d, stamp, raw))
	}, 8)
	tap.Bytes(session.C2S, 1, []byte("ask"))
	tap.Bytes(session.S2C, 2, []byte("{}         \nans"))
	tap.Bytes(session.C2S, 3, []byte("ed\nlost"))
	tap.Lost(session.C2S, 4, 10)
	tap.Bytes(session.C2S, 5, []byte("half\nwhole\n"))
	tap.End(session.S2C, 6)
	tap.End(session.C2S, 7)
	want := []string{"s2c 2 {}      … [cut: the line has 11 bytes]", "c2s 3 asked", "c2s 5 whole", "s2c 6 ans"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
