package agent

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxNames bounds the files that a names remembers.
const maxNames = 1000

// names are paths that one goroutine adds and another reads.
type names struct {
	mu   sync.Mutex
	list map[string]bool
}

// add remembers paths.
func (n *names) add(paths []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.list == nil {
		n.list = map[string]bool{}
	}
	for _, p := range paths {
		if len(n.list) < maxNames {
			n.list[p] = true
		}
	}
}

// sorted are the paths in order.
func (n *names) sorted() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.list))
}

// keep is a text that is remembered, "" for one that is no text or has no room.
func (s *contents) keep(text string) string {
	if text = readable(text); len(text) > s.texts {
		return ""
	}
	s.texts -= len(text)
	return text
}

// strayShare bounds the bytes of a file that no text has, such as NUL, to one in so many: a call's inputs may bring some.
const strayShare = 100

// readable is a text without the few such bytes that it has, "" for what is no text.
func readable(text string) string {
	stray := strings.Count(text, "\x00")
	for _, r := range text {
		if r == utf8.RuneError {
			stray++
		}
	}
	if stray > len(text)/strayShare {
		return ""
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, string(utf8.RuneError)), "\x00", string(utf8.RuneError))
}

// tellText tells the texts of a file that is not as it was.
func (s *contents) tellText(name, was, now string) {
	if was == now || s.toldTexts+len(was)+len(now) > maxTexts {
		return
	}
	s.toldTexts += len(was) + len(now)
	s.emit(session.EventText{Path: name, Was: was, Now: now})
}

// elsewhere tells the texts of files that were written outside of the places.
func (s *contents) elsewhere() {
	for _, name := range s.written.sorted() {
		if s.told[name] || time.Now().After(s.deadline) {
			continue
		}
		fd, err := kernel{}.find(name)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Size <= session.MaxText {
			if now, err := s.look(fd); err == nil {
				s.tellText(name, "", now.text)
			}
		}
		_ = unix.Close(fd)
	}
}
