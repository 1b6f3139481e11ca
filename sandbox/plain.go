package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

// The bounds of what is read before it is encrypted, in bytes: of a connection, and of a run.
const (
	maxPlainConn = 1 << 20
	maxPlainRun  = 64 << 20
)

// plainReader hands on what the target gives to its TLS libraries.
type plainReader struct {
	run    *Run
	reader *tlsread.Reader // nil under Spec.NoTLSProbes
	// Of the goroutine that reads.
	spent int
	lost  map[string]uint64
}

// file is told what the target runs and opens.
func (p *plainReader) file(pid int, path string) {
	if path == "" {
		p.reader.Executed(pid)
		return
	}
	p.reader.Opened(pid, path)
}

func (p *plainReader) piece(x *tlsread.Piece) {
	f := trace.Flow{Type: trace.FlowPlain, Stamp: x.Time, Conn: x.Conn, Task: x.Task, Proto: "tcp", TLS: true,
		Source: x.Source, Dest: x.Dest, Whole: x.Whole, Cut: x.Cut || x.Lost}
	switch x.Kind {
	case tlsread.Bound:
	case tlsread.Sent, tlsread.Offered:
		f.Offered, f.Offset, f.Data = x.Kind == tlsread.Offered, x.Offset, x.Data
		if p.spent += len(x.Data); p.spent > maxPlainRun {
			f.Data, f.Cut = nil, true
		}
	default:
		return
	}
	p.run.sink.Flow(&f)
}

// lose counts what the reader lost, such as a piece whose memory was not there yet.
func (p *plainReader) lose(n uint64, why string) {
	if p.lost == nil {
		p.lost = map[string]uint64{}
	}
	p.lost[why] += n
}

// close ends the reader and tells what it lost, and what it could not watch. No other record is missing for that. A
// connection of which a piece is known to be missing stays opaque, so the run is less whole only where another one
// was taken to be read.
func (p *plainReader) close() {
	if p.reader == nil {
		return
	}
	p.reader.Close()
	_, err := p.reader.State()
	if loss := lossOf(p.lost, err); loss != nil {
		p.run.sink.Event(session.Event{Stamp: trace.Clock(), Body: *loss})
	}
}

// lossOf is nil where nothing was lost and nothing failed.
func lossOf(lost map[string]uint64, err error) *session.EventLoss {
	e := session.EventLoss{Code: session.GapTLSLost}
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(lost)) {
		e.N += int64(lost[reason])
		why = append(why, fmt.Sprintf("%s (%d times)", reason, lost[reason]))
	}
	if err != nil {
		why = append(why, err.Error())
	}
	if len(why) == 0 {
		return nil
	}
	e.Reason = strings.Join(why, "; ")
	return &e
}
