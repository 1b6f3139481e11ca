//go:build unix

package tap

import (
	"io/fs"
	"os"
	"syscall"
)

// pollable is f as a file whose Read and Write wait in the runtime's poller: a
// blocked thread would hold up the other direction, and could not be cancelled.
// A terminal or a regular file is left alone, others may share its flags.
func pollable(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return f
	}
	fd, err := syscall.Dup(int(f.Fd()))
	if err != nil {
		return f
	}
	syscall.CloseOnExec(fd)
	if err := syscall.SetNonblock(fd, true); err != nil {
		_ = syscall.Close(fd) // it was only ours
		return f
	}
	// The peer sees the end only when no descriptor is left.
	_ = f.Close()
	return os.NewFile(uintptr(fd), f.Name())
}
