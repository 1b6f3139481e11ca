package spy

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy"
	"github.com/coalmine-dev/coalmine/sandbox/spy/plaintext"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

const (
	// maxUnread bounds the bytes of TLS that wait for the engine.
	maxUnread = 64 << 20
	// lookTime bounds the first look at the machine's processes.
	lookTime = 20 * time.Second
	// maxFamilies bounds the processes of which it is known whether they are watched.
	maxFamilies = 1 << 16
)

// secure reads TLS before it is encrypted.
type secure struct {
	w      *watch
	reader *tlsread.Reader
	conns  *plaintext.Connections
	family map[int]bool // of the reader's goroutine

	mu   sync.Mutex
	came []tlsread.Piece
	held int
	lost map[string]uint64
}

// secured begins to read the TLS of this machine's programs.
func (w *watch) secured(ctx context.Context) (*secure, error) {
	s := &secure{w: w, family: map[int]bool{}, lost: map[string]uint64{}}
	s.conns = plaintext.New(plaintext.Options{Take: w.take, Process: spy.Named, Alive: spy.Alive, Lose: s.lose})
	var err error
	if s.reader, err = tlsread.Open(tlsread.Options{Everywhere: true, Reads: true, Ring: w.o.Ring}, s.piece, s.lose); err != nil {
		return nil, fmt.Errorf("watch TLS: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	if err := s.reader.Look(ctx); err != nil {
		w.say("warning: " + err.Error())
	}
	return s, nil
}

// piece keeps a copy for the engine's goroutine. The reader calls it from its own.
func (s *secure) piece(p *tlsread.Piece) {
	if !s.wanted(p.PID) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held+len(p.Data) > maxUnread {
		s.lost["bytes of TLS found no room before the reassembly"] += uint64(len(p.Data))
		return
	}
	kept := *p
	kept.Data = bytes.Clone(p.Data)
	s.came = append(s.came, kept)
	s.held += len(p.Data)
}

func (s *secure) lose(n uint64, why string) {
	s.mu.Lock()
	s.lost[why] += n
	s.mu.Unlock()
}

// handOn gives the engine what came.
func (s *secure) handOn() {
	s.mu.Lock()
	came := s.came
	s.came, s.held = nil, 0
	s.mu.Unlock()
	for i := range came {
		s.conns.Piece(&came[i])
	}
}

// wanted reports whether a process is one of those that are watched, or was started by one.
func (s *secure) wanted(pid int) bool {
	if pid == os.Getpid() {
		return false
	}
	if len(s.w.o.PIDs) == 0 {
		return true
	}
	is, known := s.family[pid]
	if !known {
		for up := pid; up > 1 && !is; up = spy.Parent(up) {
			is = slices.Contains(s.w.o.PIDs, up)
		}
		if len(s.family) >= maxFamilies {
			clear(s.family)
		}
		s.family[pid] = is
	}
	return is
}

// finish hands on the last pieces, and adds what was lost.
func (s *secure) finish(lost map[string]uint64) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.reader.Drain(ctx); err != nil {
		s.lose(1, "the last pieces of TLS: "+err.Error())
	}
	s.handOn()
	s.reader.Close()
	if _, err := s.reader.State(); err != nil {
		s.w.say("warning: " + err.Error())
	}
	for why, n := range s.lost {
		lost[why] += n
	}
}

// judge tells whoever follows a stream that it is not MCP.
func (s *secure) judge(c *spy.Collector) func(reassembly.Key, reassembly.Verdict) {
	return func(k reassembly.Key, v reassembly.Verdict) {
		switch {
		case k.Kind != reassembly.TLS:
			c.Judge(k, v)
		case s != nil:
			s.conns.Judge(k, v)
		}
	}
}
