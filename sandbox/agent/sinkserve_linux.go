package agent

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// serveSink answers until the link ends. The words on it ask for one back once everything
// sent before has been told, or change the kind of answer.
func serveSink(o sinkOrder, dials int, listeners []*os.File, out *flowWriter) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	link := os.NewFile(stage.LinkFD, "link")
	quiesce, turning := make(chan func()), new(sinkhole.Turning)
	go func() {
		defer cancel()
		word := make([]byte, 1)
		for {
			if _, err := io.ReadFull(link, word); err != nil {
				return
			}
			if word[0] == wordTurn {
				served, err := readServed(link)
				if err != nil {
					return
				}
				turning.Set(served)
				continue
			}
			select {
			case quiesce <- func() { out.wait(); _, _ = link.Write([]byte{wordQuiesce}) }:
			case <-ctx.Done():
				return
			}
		}
	}()
	cfg := o.Network.Sinkhole
	cfg.Quiesce, cfg.Turning = quiesce, turning
	if len(cfg.Allow)+len(cfg.Services) > 0 {
		cfg.Dial = (&dialClient{fd: dials}).dial
	}
	if len(o.Canaries) > 0 {
		// The judge decodes what is kept of each flow; this search is for what lies beyond.
		linear := canaries.FromCanaries(o.Canaries).Linear()
		cfg.Scan = func(s sinkhole.Stream) io.WriteCloser { return &search{Scanner: linear.Scanner(), stream: s, out: out} }
	}
	err := sinkhole.Serve(ctx, listeners, cfg, func(e sinkhole.Event) { out.write(&e) })
	if err != nil {
		out.write(&sinkhole.Event{Type: sinkhole.TypeLoss, Stamp: clock(), Error: fmt.Sprintf("the sinkhole could not answer: %v", err), N: 1})
	}
	return err
}

// readServed is what stands behind a wordTurn.
func readServed(link io.Reader) (served sinkhole.Served, err error) {
	var size [4]byte
	if _, err := io.ReadFull(link, size[:]); err != nil {
		return served, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > MaxServed {
		return served, fmt.Errorf("an answer of %d bytes is over the bound of %d", n, MaxServed)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(link, body); err != nil {
		return served, err
	}
	return served, json.Unmarshal(body, &served)
}

// wait returns when what is being written is.
func (w *flowWriter) wait() {
	w.mu.Lock()
	w.mu.Unlock() //nolint:staticcheck // an empty critical section is the point
}

// search looks for decoys in one view of a flow and tells each place once.
type search struct {
	*canaries.Scanner
	stream sinkhole.Stream
	out    *flowWriter
	told   map[canaries.Hit]bool // without the offset
}

// maxHits bounds what is told of one view: who sends a decoy a thousand times has sent it.
const maxHits = 64

// Write implements io.Writer.
func (s *search) Write(p []byte) (int, error) {
	n, err := s.Scanner.Write(p)
	if s.More() { // Hits looks into the last bytes each time
		s.tell()
	}
	return n, err
}

// Close implements io.Closer.
func (s *search) Close() error {
	s.tell()
	return nil
}

func (s *search) tell() {
	for _, h := range s.Hits() {
		kind := canaries.Hit{ID: h.ID, Encoding: h.Encoding}
		if s.told[kind] || len(s.told) >= maxHits {
			continue
		}
		if s.told == nil {
			s.told = map[canaries.Hit]bool{}
		}
		s.told[kind] = true
		s.out.write(&sinkhole.Event{
			Type: trace.FlowHit, Stamp: clock(), Flow: s.stream.Flow, Request: s.stream.Request, View: s.stream.View,
			Canary: h.ID, Encoding: h.Encoding, Offset: h.Offset,
		})
	}
}
