package agent

import (
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Bounds on the search of what the target wrote.
const (
	// maxSearched bounds the bytes of one search; more is a loss.
	maxSearched = 256 << 20
	// maxPacked bounds a file that is also looked into where it is compressed.
	maxPacked = 8 << 20
)

// search looks for decoys in files that the target wrote, and tells each find.
func (a *agent) search(paths []string) {
	if len(paths) == 0 || len(a.cfg.Canaries) == 0 {
		return
	}
	if a.decoys == nil {
		a.decoys = canaries.FromCanaries(a.cfg.Canaries)
	}
	left := int64(maxSearched)
	for _, path := range paths {
		if slices.Contains(a.cfg.Watch, path) {
			continue // a decoy's own place
		}
		n, err := a.searchFile(path, left)
		if err != nil {
			a.emit(session.EventLoss{Code: session.GapFilesNotSearched, Reason: fmt.Sprintf("a file that was written was not searched: %v", err)})
		}
		left -= n
	}
}

// searchFile looks into one regular file, reached by no link, and says how much of it there was.
func (a *agent) searchFile(path string, limit int64) (int64, error) {
	fd, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return 0, nil //nolint:nilerr // gone, or no file any more: what is not there holds nothing
	}
	f := os.NewFile(uintptr(fd), path)
	defer func() { _ = f.Close() }()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return 0, err
	}
	if st.Size() > limit {
		return 0, fmt.Errorf("%s has %d bytes", path, st.Size())
	}
	var hits []canaries.Hit
	if st.Size() <= maxPacked {
		b, err := io.ReadAll(io.LimitReader(f, maxPacked))
		if err != nil {
			return 0, err
		}
		hits, _ = a.decoys.FindBody(b, nil)
	} else {
		s := a.decoys.Scanner()
		if _, err := io.Copy(s, io.LimitReader(f, limit)); err != nil {
			return 0, err
		}
		hits = s.Hits()
	}
	told := map[string]bool{}
	for _, h := range hits {
		if !told[h.ID] {
			told[h.ID] = true
			a.emit(session.EventFound{Path: path, Canary: h.ID, Encoding: h.Encoding, Offset: h.Offset})
		}
	}
	return st.Size(), nil
}
