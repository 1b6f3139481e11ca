package sandbox

import (
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
	spent  int             // of the goroutine that reads
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

// lose is told what the reader lost, such as a piece whose memory was not there yet. No other
// record is missing for that, and the connection whose piece it was stays opaque, so the run is no
// less whole.
func (p *plainReader) lose(uint64, string) {}
