package agent

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// watcher turns inotify's events into accesses of watched paths.
type watcher struct {
	fd    int
	paths map[int32][]string
	emit  func(time.Duration, session.Body)
}

// newWatcher arms a watch on each path. What cannot be watched is Loss, said by
// the returned texts: the run goes on without that rung of evidence.
func newWatcher(paths []string, emit func(time.Duration, session.Body)) (*watcher, []string) {
	var lost []string
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, []string{fmt.Sprintf("the canaries are not watched: %v", err)}
	}
	w := &watcher{fd: fd, paths: make(map[int32][]string), emit: emit}
	for _, p := range paths {
		wd, err := unix.InotifyAddWatch(fd, p, unix.IN_OPEN|unix.IN_ACCESS)
		if err != nil {
			lost = append(lost, fmt.Sprintf("%s is not watched: %v", p, err))
			continue
		}
		w.paths[int32(wd)] = append(w.paths[int32(wd)], p)
	}
	return w, lost
}

// disarm ends the watches.
func (w *watcher) disarm() {
	for wd := range w.paths {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
	}
}

// take reads a buffer of events. Repeats within it are one access: a target
// that opens a canary in a loop must not flood the host.
func (w *watcher) take(stamp time.Duration, b []byte) error {
	type access struct {
		wd   int32
		mask uint32
	}
	var seen []access
	for len(b) >= unix.SizeofInotifyEvent {
		wd := int32(binary.NativeEndian.Uint32(b))
		mask := binary.NativeEndian.Uint32(b[4:])
		size := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
		b = b[min(size, len(b)):]
		if mask&unix.IN_Q_OVERFLOW != 0 {
			w.emit(stamp, session.EventLoss{Code: session.GapAccessesLost, Reason: "accesses to canaries came faster than they could be read"})
		}
		if mask &= unix.IN_OPEN | unix.IN_ACCESS; mask == 0 {
			continue
		}
		found := false
		for i := range seen {
			if seen[i].wd == wd {
				seen[i].mask |= mask
				found = true
			}
		}
		if !found {
			seen = append(seen, access{wd, mask})
		}
	}
	for _, a := range seen {
		for _, p := range w.paths[a.wd] {
			w.emit(stamp, session.EventAccess{Path: p, Mask: maskText(a.mask)})
		}
	}
	return nil
}

func maskText(mask uint32) string {
	var words [][]byte
	if mask&unix.IN_OPEN != 0 {
		words = append(words, []byte("open"))
	}
	if mask&unix.IN_ACCESS != 0 {
		words = append(words, []byte("read"))
	}
	return string(bytes.Join(words, []byte("|")))
}
