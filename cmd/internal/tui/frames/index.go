package frames

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The bounds of an index.
const (
	// MaxFrames is how many frames an index holds. Those behind them are counted only.
	MaxFrames = 16 << 20
	// maxNames bounds the different methods and tools that are kept by name, maxName each in bytes.
	maxNames = 1<<16 - 1
	maxName  = 200
	// maxPending bounds the requests that wait for an answer.
	maxPending = 1 << 20
	chunkSize  = 1 << 14
	// batch is how many lines are read before they are shown.
	batch = 1 << 10
	// pollEvery is how often a log that is followed is looked at.
	pollEvery = 200 * time.Millisecond
)

// Kind says what a frame is.
type Kind uint8

// The kinds of frames.
const (
	Request Kind = iota
	Notification
	Answer
	Batch
	// Other is JSON that is no message, and NoJSON a line that is no JSON.
	Other
	NoJSON
	// Damaged is a line of the log that is no frame.
	Damaged
	// Effect is what coalmine spy saw the server do, and Finding what a rule says of that.
	// They have no number.
	Effect
	Finding
)

// Frame is what the index knows of a frame.
type Frame struct {
	// Seq is the frame's number in the log, 0 for a damaged line.
	Seq  uint64
	Time time.Time
	Dir  session.Dir
	Kind Kind
	// Method and Tool are those of the request, also for its answer. Tool is also
	// the name of a prompt or the address of a resource.
	Method, Tool string
	// Failed says that an answer is an error, or a tool's own error; Blocked that the
	// gate kept the frame from its receiver.
	Failed, Blocked bool
	// Pair is the position of the answer to a request, or of the request of an answer, -1 for none.
	Pair int
	// Size is the length of the log's line in bytes.
	Size int64
}

// entry is a Frame as it is kept.
type entry struct {
	at           int64 // where the line begins
	time         int64 // in microseconds since 1970, 0 for none
	seq          uint64
	size         uint32
	pair         int32
	method, tool uint16
	kind         Kind
	flags        uint8
}

const (
	flagS2C = 1 << iota
	flagFailed
	flagBlocked
)

// Index is the index of one log. It may be used from many goroutines.
type Index struct {
	file io.ReaderAt

	mu     sync.RWMutex
	chunks [][]entry
	n      int
	state  State
	names  []string
	// known are the numbers of the names.
	known map[string]uint16
	// pending are the requests without an answer, by the hash of their sender and id.
	pending map[uint64]int32
	seed    maphash.Seed
	changed chan struct{}
}

// State is how far an index is.
type State struct {
	// Frames are those that can be asked for, Bytes how much of the log was read.
	Frames int
	Bytes  int64
	// Requests, Answers, Failed and Blocked count frames.
	Requests, Answers, Failed, Blocked int
	// Calls counts requests that call a tool, Effects and Findings what coalmine spy saw.
	Calls, Effects, Findings int
	// First and Last are the times of the first and of the last frame.
	First, Last time.Time
	// Left counts the frames that there was no room for.
	Left int64
	// Server is the server's name and version, "" before it was said.
	Server string
	// End says that all of the log was read; a log that is followed may grow all the same.
	End bool
	// Err says why the log is read no further, nil where it is.
	Err error
}

// New returns an index of a log that is empty until Build reads it.
func New(file io.ReaderAt) *Index {
	return &Index{file: file, names: []string{""}, known: map[string]uint16{"": 0}, pending: map[uint64]int32{}, seed: maphash.MakeSeed(), changed: make(chan struct{}, 1)}
}

// Open opens a log that is a regular file. The caller closes the file.
func Open(path string) (*os.File, *Index, error) {
	// Opening a FIFO would wait for its other end.
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	return f, New(f), nil
}

// Changed tells of a new State. It holds one notice at most.
func (x *Index) Changed() <-chan struct{} { return x.changed }

// State is how far the index is now.
func (x *Index) State() State {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := x.state
	s.Frames = x.n
	return s
}

// Build reads the log to its end and, where it is followed, until the context ends.
func (x *Index) Build(ctx context.Context, follow bool) {
	src := &position{file: x.file}
	scan := session.NewScanner(src)
	scan.Did = func(d *session.Did) { x.did(scan, d) }
	if follow {
		scan.Growing()
	}
	for ctx.Err() == nil {
		err := x.read(ctx, scan)
		x.mu.Lock()
		x.state.Bytes = src.at
		x.state.End = errors.Is(err, io.EOF)
		if err != nil && !x.state.End {
			x.state.Err = err
		}
		x.mu.Unlock()
		x.tell()
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF) || !follow:
			return
		default:
			if !x.wait(ctx, src) {
				return
			}
		}
	}
}

// wait waits until the log is longer than what was read. False is the end of it.
func (x *Index) wait(ctx context.Context, src *position) bool {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		f, ok := x.file.(interface{ Stat() (os.FileInfo, error) })
		if !ok {
			return false
		}
		info, err := f.Stat()
		if err == nil && info.Size() < src.at {
			err = errors.New("the log became shorter: open it again")
		}
		if err != nil {
			x.mu.Lock()
			x.state.Err = err
			x.mu.Unlock()
			x.tell()
			return false
		}
		if info.Size() > src.at {
			return true
		}
	}
}

// tell leaves a notice of a new state.
func (x *Index) tell() {
	select {
	case x.changed <- struct{}{}:
	default:
	}
}

// read adds a batch of frames. io.EOF is the end of what there is.
func (x *Index) read(ctx context.Context, scan *session.Scanner) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for range batch {
		f, err := scan.Next()
		at, size := scan.Place()
		e := entry{at: at, size: uint32(min(size, math.MaxUint32)), pair: -1}
		var bad *session.LineError
		switch {
		case errors.As(err, &bad):
			e.kind = Damaged
		case err != nil:
			return err
		default:
			x.describe(&e, f, scan.Envelope())
		}
		x.add(e)
	}
	return ctx.Err()
}

// add appends an entry and pairs it. The lock is held.
func (x *Index) add(e entry) {
	if x.n >= MaxFrames {
		x.state.Left++
		return
	}
	if x.n%chunkSize == 0 {
		x.chunks = append(x.chunks, make([]entry, 0, chunkSize))
	}
	last := len(x.chunks) - 1
	x.chunks[last] = append(x.chunks[last], e)
	if e.pair >= 0 {
		x.entry(int(e.pair)).pair = int32(x.n)
	}
	x.n++
}

// entry is the place of one entry. The lock is held.
func (x *Index) entry(i int) *entry { return &x.chunks[i/chunkSize][i%chunkSize] }

// Frame is the frame at a position from 0, which is below State().Frames.
func (x *Index) Frame(i int) Frame {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if i < 0 || i >= x.n {
		return Frame{Pair: -1, Kind: Damaged}
	}
	return x.frame(x.entry(i))
}

func (x *Index) frame(e *entry) Frame {
	f := Frame{Seq: e.seq, Dir: session.C2S, Kind: e.kind, Method: x.names[e.method], Tool: x.names[e.tool], Failed: e.flags&flagFailed != 0,
		Blocked: e.flags&flagBlocked != 0, Pair: int(e.pair), Size: int64(e.size)}
	if e.flags&flagS2C != 0 {
		f.Dir = session.S2C
	}
	if e.time != 0 {
		f.Time = time.UnixMicro(e.time).UTC()
	}
	return f
}

// Range calls f with the frames from a position on, at most n of them, until f returns
// false. f must not call the index.
func (x *Index) Range(from, n int, f func(i int, frame *Frame) bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := max(from, 0); i < min(from+n, x.n); i++ {
		frame := x.frame(x.entry(i))
		if !f(i, &frame) {
			return
		}
	}
}

// Find is the position of the frame with a number, -1 for none. The numbers of a log
// rise; in one that was tampered with, another frame may be found, or none.
func (x *Index) Find(seq uint64) int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if seq == 0 {
		return -1
	}
	// In a whole log the number is one more than the position.
	if i := int(min(seq, 1<<31)) - 1; i < x.n && x.entry(i).seq == seq {
		return i
	}
	for i := range x.n {
		if x.entry(i).seq == seq {
			return i
		}
	}
	return -1
}

// Line reads the line of a frame, without its end, at most limit bytes of it, into buf.
func (x *Index) Line(i int, limit int64, buf []byte) ([]byte, error) {
	x.mu.RLock()
	if i < 0 || i >= x.n {
		x.mu.RUnlock()
		return nil, fmt.Errorf("frame %d is not in the index", i)
	}
	e := *x.entry(i)
	x.mu.RUnlock()
	n := min(int64(e.size), limit)
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	got, err := x.file.ReadAt(buf, e.at)
	if err != nil && (!errors.Is(err, io.EOF) || int64(got) < n) {
		return nil, fmt.Errorf("read the log: %w", err)
	}
	for len(buf) > 0 && (buf[len(buf)-1] == '\n' || buf[len(buf)-1] == '\r') {
		buf = buf[:len(buf)-1]
	}
	return buf, nil
}

// position reads a file from its beginning.
type position struct {
	file io.ReaderAt
	at   int64
}

func (p *position) Read(b []byte) (int, error) {
	n, err := p.file.ReadAt(b, p.at)
	p.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}
