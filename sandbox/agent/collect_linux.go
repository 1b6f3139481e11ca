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

// What is kept of a target's files for its next start: maxKeptFile bounds one file,
// maxKeptBytes all of them. A database with its log fits.
const maxKeptFile, maxKeptBytes = 8 << 20, 16 << 20

func pathsOf(c Command) []string {
	paths := make([]string, len(c.Paths))
	for i, p := range c.Paths {
		paths[i] = string(p)
	}
	return paths
}

// collect sends what stands in files, those that are regular and small, and which paths
// are directories. It tells the others as losses. The target could put anything there:
// no link is followed, and nothing blocks.
func (a *agent) collect(c Command) {
	paths := pathsOf(c)
	kept, size, lost, reason := 0, 0, 0, ""
	for _, p := range paths {
		if st, err := os.Lstat(p); err == nil && st.Mode()&(os.ModeSymlink|os.ModeSocket) != 0 {
			continue // a socket ends with its process, and what a link leads to has a name of its own
		}
		f, err := readKept(p)
		switch {
		case isGone(err):
		case err != nil:
			lost, reason = lost+1, fmt.Sprintf("%q: %v", p, err)
		case kept >= MaxKept:
			lost, reason = lost+1, fmt.Sprintf("more than %d files were left", MaxKept)
		case size+len(f.Data) > maxKeptBytes:
			lost, reason = lost+1, fmt.Sprintf("%q: together they have more than %d bytes", p, maxKeptBytes)
		default:
			kept, size = kept+1, size+len(f.Data)
			f.N = c.N
			a.emitFile(f)
		}
	}
	if lost > 0 {
		a.emit(session.EventLoss{Code: session.GapFilesNotKept, N: int64(lost), Reason: fmt.Sprintf("%d of the files that the server left were not taken along: %s", lost, reason)})
	}
}

// emitFile sends a file, in as many events as its bytes need.
func (a *agent) emitFile(f session.EventFile) {
	whole := f.Data
	for part := range slices.Chunk(whole, session.MaxEventFile) {
		f.Data = part
		a.emit(f)
	}
	if len(whole) == 0 {
		a.emit(f)
	}
}

func readKept(p string) (session.EventFile, error) {
	kept := session.EventFile{Path: p}
	if !utf8.ValidString(p) {
		return kept, errors.New("its name is not UTF-8")
	}
	fd, err := unix.Openat2(unix.AT_FDCWD, p, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
	if err != nil {
		return kept, err
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return kept, err
	}
	kept.Dir, kept.Mode = st.IsDir(), uint32(st.Mode().Perm())
	switch {
	case kept.Dir:
		return kept, nil
	case !st.Mode().IsRegular():
		return kept, errors.New("it is not a regular file")
	}
	kept.Data, err = io.ReadAll(io.LimitReader(f, maxKeptFile+1))
	if err == nil && len(kept.Data) > maxKeptFile {
		err = fmt.Errorf("it has more than %d bytes", maxKeptFile)
	}
	return kept, err
}
