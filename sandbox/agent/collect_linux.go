package agent

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What is kept of a target's files for its next start.
const (
	maxKept = 1000
	// maxKeptFile bounds one file, maxKeptBytes all of them: a database with its log fits.
	maxKeptFile, maxKeptBytes = 8 << 20, 16 << 20
)

func pathsOf(c Command) []string {
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = string(p)
	}
	return paths
}

// collect sends what stands in files, those that are regular and small, and tells
// the others as losses. The target could put anything there: no link is followed,
// and nothing blocks.
func (a *agent) collect(c Command) {
	paths := pathsOf(c)
	kept, size, lost, reason := 0, 0, 0, ""
	for _, p := range paths {
		if st, err := os.Lstat(p); err == nil && st.Mode()&(os.ModeSymlink|os.ModeSocket) != 0 {
			continue // a socket ends with its process, and what a link leads to has a name of its own
		}
		data, err := readKept(p)
		switch {
		case isGone(err):
		case err != nil:
			lost, reason = lost+1, fmt.Sprintf("%q: %v", p, err)
		case kept >= maxKept:
			lost, reason = lost+1, fmt.Sprintf("more than %d files were left", maxKept)
		case size+len(data) > maxKeptBytes:
			lost, reason = lost+1, fmt.Sprintf("%q: together they have more than %d bytes", p, maxKeptBytes)
		default:
			kept, size = kept+1, size+len(data)
			a.emitFile(c.N, p, data)
		}
	}
	if lost > 0 {
		a.emit(session.EventLoss{Code: session.GapFilesNotKept, N: int64(lost), Reason: fmt.Sprintf("%d of the files that the server left were not taken along: %s", lost, reason)})
	}
}

// emitFile sends a file, in as many events as its bytes need.
func (a *agent) emitFile(n int64, name string, data []byte) {
	for part := range slices.Chunk(data, session.MaxEventFile) {
		a.emit(session.EventFile{N: n, Path: name, Data: part})
	}
	if len(data) == 0 {
		a.emit(session.EventFile{N: n, Path: name})
	}
}

func readKept(p string) ([]byte, error) {
	if !utf8.ValidString(p) {
		return nil, errors.New("its name is not UTF-8")
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeptFile+1))
	if err == nil && len(data) > maxKeptFile {
		err = fmt.Errorf("it has more than %d bytes", maxKeptFile)
	}
	return data, err
}
