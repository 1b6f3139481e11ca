//go:build unix

package tap

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// Who shares the pipe may make its reads return at once, while it is being closed.
func TestAReadThatNoLongerWaitsEnds(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	shared, err := unix.Dup(int(r.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(shared) }()
	f := pollable(r, true)
	if err := unix.SetNonblock(shared, true); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := f.Read(make([]byte, 1))
		done <- err
	}()
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}
