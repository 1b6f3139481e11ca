package canaries

import (
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sync"
	"time"
)

// Options describe the user of a set. Every field may be left zero.
type Options struct {
	// User is the developer's login name; "" draws one.
	User string
	// Home is the absolute path of the decoy HOME; "" is /home/USER.
	Home string
	// Names is where the developer's names are drawn from, such as a seed that gives two sets
	// one user and one HOME; nil for the source of all else. No secret is drawn from it.
	Names io.Reader
	// Workspace are the directories that someone works in, which hold a .env and a
	// .git-credentials file. A path that is not absolute starts from HOME. Those
	// outside HOME must be there: only the files are told.
	Workspace []string
	// Services are the real services beside the server, whose rows hold decoys of KindRow.
	Services []string
	// Now is the moment before which all files were last changed; zero is the present.
	Now time.Time
}

// Set is a fresh set of decoys, or a recorded one. It is safe for concurrent use.
type Set struct {
	user, home, host string
	list             []Canary
	files            []File
	env              []string
	workspaces       []string

	literals []literal
	matcher  func() *matcher
	plain    func() *matcher // the matcher of linear searches
	limit    int             // the hits of both from here on are of decoys that are none of the set's
	linear   bool            // its searches look for texts as they stand, and below no layers
	idle     *sync.Pool      // Scanners that Find and Redact use again, nil to make new ones
}

// Linear is the same set for searches that decode no layers (see Find): they are several
// times as fast, and keep less.
func (s *Set) Linear() *Set {
	l := *s
	l.matcher, l.linear, l.idle = s.plain, true, new(sync.Pool)
	return &l
}

// First is a set of the first n decoys alone, which searches with what s searches with: that takes
// ten milliseconds to build.
func (s *Set) First(n int) *Set {
	f := *s
	f.list = s.list[:n:n]
	f.literals = slices.DeleteFunc(slices.Clone(s.literals), func(l literal) bool {
		return !slices.ContainsFunc(f.list, func(c Canary) bool { return c.ID == l.id })
	})
	f.limit, f.idle = n*len(encodings), new(sync.Pool)
	return &f
}

// New makes a fresh set. All that is random in it comes from the given source.
func New(rand io.Reader, opts Options) (*Set, error) {
	if rand == nil {
		return nil, errors.New("canaries: no source of randomness")
	}
	if opts.Home != "" && !path.IsAbs(opts.Home) {
		return nil, fmt.Errorf("canaries: home %q is not an absolute path", opts.Home)
	}
	if opts.Now.IsZero() {
		opts.Now = time.Now()
	}
	h := newHome(newMint(rand), opts)
	h.plant()
	h.plantRows(opts.Services)
	for _, dir := range opts.Workspace {
		if !path.IsAbs(dir) {
			dir = h.at(dir)
		}
		if dir = path.Clean(dir); !slices.Contains(h.workspaces, dir) {
			h.plantWorkspace(len(h.workspaces), dir)
			h.workspaces = append(h.workspaces, dir)
		}
	}
	if h.mint.err != nil {
		return nil, h.mint.err
	}
	s := FromCanaries(h.list)
	s.user, s.home, s.host = h.user, h.dir, h.host
	s.files, s.env, s.workspaces = h.tree(), h.env, h.workspaces
	return s, nil
}

// FromCanaries is the set of recorded canaries, to judge a run again from its
// log. It finds and redacts; it has no files, no environment and no user.
func FromCanaries(list []Canary) *Set {
	recent.Lock()
	defer recent.Unlock()
	for _, s := range recent.sets {
		if s != nil && slices.EqualFunc(s.list, list, Canary.equal) {
			return s.alone()
		}
	}
	s := newSearch(list, decoys)
	copy(recent.sets[1:], recent.sets[:])
	recent.sets[0] = s
	return s.alone()
}

// recent are the sets last asked for. A judge makes several of the same decoys, and what a set
// searches with takes ten milliseconds to build.
var recent struct {
	sync.Mutex
	sets [4]*Set
}

// alone is the same set for a caller that adds to it.
func (s *Set) alone() *Set {
	own := *s
	return &own
}

// newSearch is a set that finds and redacts by the texts that cut names.
func newSearch(list []Canary, cut cutter) *Set {
	s := &Set{list: slices.Clone(list), literals: newLiterals(list, cut.least), limit: len(list) * len(encodings), idle: new(sync.Pool)}
	s.matcher = sync.OnceValue(func() *matcher { return newMatcher(s.list, cut, true) })
	s.plain = sync.OnceValue(func() *matcher { return newMatcher(s.list, cut, false) })
	return s
}

// Canaries lists the decoys, in the order in which they were made.
func (s *Set) Canaries() []Canary { return slices.Clone(s.list) }

// Files is the decoy HOME: parents before what they hold, HOME itself first.
// After it come the files of the workspaces outside HOME.
func (s *Set) Files() []File { return slices.Clone(s.files) }

// Env is the decoy part of the environment, as "NAME=value".
func (s *Set) Env() []string { return slices.Clone(s.env) }

// Watch lists the absolute paths that hold a canary, each once, sorted.
func (s *Set) Watch() []string {
	var out []string
	for _, c := range s.list {
		if c.Path != "" {
			out = append(out, c.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// User is the decoy developer's login name.
func (s *Set) User() string { return s.user }

// Home is the absolute path of the decoy HOME.
func (s *Set) Home() string { return s.home }

// Workspaces are the absolute paths of the directories that someone works in,
// in the order in which they were given, each once.
func (s *Set) Workspaces() []string { return slices.Clone(s.workspaces) }

// Hostname is the name of the decoy developer's machine.
func (s *Set) Hostname() string { return s.host }
