package tap

import (
	"errors"
	"io"
	"os"
)

// Side is one end of a Relay, made of two streams.
type Side struct {
	r io.ReadCloser
	w io.WriteCloser
}

// Join makes a side of what the relay reads from and what it writes to. It takes
// files over: use the Side in their place. Pipes get as much room as an ordinary
// user may ask for, so that a frame passes in one go without waking everybody
// for each 64 KiB.
func Join(r io.ReadCloser, w io.WriteCloser) *Side {
	if f, ok := r.(*os.File); ok {
		widen(f)
		r = pollable(f, true)
	}
	if f, ok := w.(*os.File); ok {
		widen(f)
		w = pollable(f, false)
	}
	return &Side{r: r, w: w}
}

// Stdio is the side of this process's own standard input and output.
func Stdio() *Side { return Join(os.Stdin, os.Stdout) }

// Read implements io.Reader.
func (s *Side) Read(p []byte) (int, error) { return s.r.Read(p) }

// Write implements io.Writer.
func (s *Side) Write(p []byte) (int, error) { return s.w.Write(p) }

// CloseRead closes what is read from.
func (s *Side) CloseRead() error { return s.r.Close() }

// CloseWrite closes what is written to.
func (s *Side) CloseWrite() error { return s.w.Close() }

// Close closes both, which ends a Read and a Write that wait.
func (s *Side) Close() error { return errors.Join(s.r.Close(), s.w.Close()) }
