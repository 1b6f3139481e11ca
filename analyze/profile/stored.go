package profile

import (
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Stored is a file that the server wrote and left, wherever it lies.
type Stored struct {
	Path string
	// By are the first writes, in order.
	By []Writing
	// Was and Now are its texts before the server started and at the end, "" for what is no short text.
	Was, Now string
	// Grown is by how many bytes it grew, where Sized says that this is known.
	Grown int64
	Sized bool
	// Held are the texts of the arguments of the calls that wrote it that stand in it and did not before.
	Held []Held
}

// Writing is one write of a Stored.
type Writing struct {
	Call      int
	Tool      string
	Phase     finding.Phase
	Ambiguous bool
	Evidence  finding.Evidence
}

// Names are what a call spelled by making directories and links: a name that nobody has to read holds data as well as a
// file does.
type Names struct {
	Writing
	// Path is the last path that was made, and Bytes the length of all names and of what the links lead to.
	Path  string
	Bytes int
}

// Held is a text that a call was given.
type Held struct {
	Call int
	Word string
}

// The bounds of what is kept of stored files.
const maxStored, maxWritings, maxHeld = 2000, 64, 64

// stores follows what is written, by path.
type stores struct {
	files map[string]*Stored
	order []string
	// names are what calls spelled by names, by call, and spelled these calls in order.
	names   map[int]*Names
	spelled []int
	at      map[string][]time.Duration
	texts   map[string]session.EventText
}

func newStores() stores {
	return stores{files: map[string]*Stored{}, names: map[int]*Names{}, at: map[string][]time.Duration{}, texts: map[string]session.EventText{}}
}

// wrote takes a successful change of a file, which is the effect e.
func (s *stores) wrote(r *trace.Record, p string, e *finding.Effect) {
	switch {
	case e.Kind == finding.FileDelete:
		delete(s.files, p)
	case e.Kind != finding.FileWrite || r.Op != trace.OpOpen && r.Op != trace.OpRename && r.Op != trace.OpTrunc:
	default:
		f := s.files[p]
		if f == nil {
			if len(s.files) >= maxStored {
				return
			}
			f = &Stored{Path: p}
			s.files[p], s.at[p] = f, nil
			s.order = append(s.order, p)
		}
		if len(f.By) < maxWritings {
			f.By = append(f.By, Writing{e.Call, e.Tool, e.Phase, e.Ambiguous, e.Evidence[0]})
			s.at[p] = append(s.at[p], r.Time)
		}
	}
}

// spells takes a directory or a link that a call made.
func (s *stores) spells(r *trace.Record, p string, e *finding.Effect) {
	if e.Call == 0 || r.Op != trace.OpMkdir && r.Op != trace.OpLink {
		return
	}
	n := s.names[e.Call]
	if n == nil {
		if len(s.names) >= maxStored {
			return
		}
		n = &Names{Writing: Writing{e.Call, e.Tool, e.Phase, e.Ambiguous, e.Evidence[0]}}
		s.names[e.Call], s.spelled = n, append(s.spelled, e.Call)
	}
	n.Path, n.Bytes = p, n.Bytes+len(path.Base(p))
	if r.Op == trace.OpLink {
		n.Bytes += len(r.Path)
	}
}

// moved takes what was written along with a file that gets another name.
func (s *stores) moved(from, to string) {
	f := s.files[from]
	if f == nil {
		return
	}
	f.Path = to
	s.files[to], s.at[to] = f, s.at[from]
	s.order = append(s.order, to)
	delete(s.files, from)
}

// storedFiles says what was written and is left.
func (b *Builder) storedFiles() {
	s := &b.stores
	b.out.Stored = nil
	seen := map[string]bool{}
	for _, p := range s.order {
		f := s.files[p]
		if f == nil || seen[p] || p == os.DevNull {
			continue
		}
		seen[p] = true
		var by []Writing
		for i, w := range f.By {
			if !b.contents.unwritten(p, s.at[p][i]) {
				by = append(by, w)
			}
		}
		d := b.contents.changed[p]
		if len(by) == 0 || d != nil && d.After.Kind != "file" {
			continue
		}
		left := Stored{Path: f.Path, By: by, Was: s.texts[p].Was, Now: s.texts[p].Now}
		if d != nil {
			left.Grown, left.Sized = d.After.Size-d.Before.Size, true
		}
		b.out.Stored = append(b.out.Stored, left)
	}
	b.holdWords()
	b.out.Spelled = nil
	for _, call := range s.spelled {
		b.out.Spelled = append(b.out.Spelled, *s.names[call])
	}
}

// holdWords finds the words of the arguments of the calls that wrote them in the texts of stored files.
func (b *Builder) holdWords() {
	found := map[string]forms{}
	for i := range b.out.Stored {
		f := &b.out.Stored[i]
		if f.Now == "" {
			continue
		}
		now, was := sentOf([]byte(f.Now)), sentOf([]byte(f.Was))
		done := map[int]bool{}
		for _, w := range f.By {
			if done[w.Call] {
				continue
			}
			done[w.Call] = true
			for _, word := range b.givenWords[w.Call] {
				if _, known := found[word]; !known {
					found[word] = formsOf(word)
				}
				if len(f.Held) < maxHeld && found[word].in(now) && !found[word].in(was) {
					f.Held = append(f.Held, Held{w.Call, word})
				}
			}
		}
	}
}

// IsBookkeeping reports whether a file is one that interpreters and libraries keep by themselves, or says
// only that somebody is there.
func (f *Stored) IsBookkeeping() bool {
	lower := strings.ToLower(f.Path)
	return slices.ContainsFunc(ownCaches, func(part string) bool { return strings.Contains(lower, part) }) ||
		slices.ContainsFunc(markers, func(end string) bool { return strings.HasSuffix(lower, end) })
}

// ownCaches are parts of the paths of what interpreters and libraries keep, and markers endings of files that
// say only that somebody is there.
var (
	ownCaches = []string{
		"/__pycache__/", "/node-compile-cache", "/v8-compile-cache", "/.npm/", "/.cache/node", "/.cache/pip", "/.cache/uv", "/.cache/fontconfig", "/matplotlib/", "/huggingface/", "/torch/", "/mesa_shader", "/.cache/typescript", "/puppeteer/", "/playwright", "/ms-playwright", "/chromium/", "/google-chrome/", "/numba",
		"/nltk_data/", "/tiktoken", "/data-gym-cache/", "/tldextract", "/configstore/", "/.cache/go-build", "/.cache/deno", "/.cache/pnpm", "/.cache/yarn", "/.dotnet/", "/.nuget/", "/.java/", "/.gradle/", "/.m2/", "/dev/shm/", "/.bun/", "/prisma/", "/.config/go/",
	}
	markers = []string{".pyc", ".lock", ".lck", ".pid", ".sock", "-wal", "-shm", "-journal", "/lock", ".port"}
)
