package agent

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What is kept of a target's files for its next start.
const (
	maxKept      = 100
	maxKeptBytes = 32 << 10
)

// collect sends what stands in files, those that are regular and small. The
// target could put anything there: no link is followed, and nothing blocks.
func (a *agent) collect(c Command) {
	for _, p := range c.Paths[:min(len(c.Paths), maxKept)] {
		if data, ok := readKept(p); ok {
			a.emit(session.EventFile{N: c.N, Path: p, Data: data})
		}
	}
}

func readKept(p string) ([]byte, bool) {
	fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, false
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() || st.Size() > maxKeptBytes {
		return nil, false
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeptBytes))
	return data, err == nil
}
