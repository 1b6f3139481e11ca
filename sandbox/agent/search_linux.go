package agent

import (
	"bytes"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Bounds on the search of what the target wrote. What meets one is a loss.
const (
	// maxSearched bounds the bytes of one search, maxSearchTime its time.
	maxSearched   = 256 << 20
	maxSearchTime = 8 * time.Second
	// maxDecoded bounds the bytes of one search in which layers are decoded, file by file:
	// what a build writes would take minutes. The rest is searched as it stands.
	maxDecoded = 4 << 20
	// maxPacked is how much of a file is looked into at once, also where it is
	// compressed. A larger file is searched in pieces that overlap by half.
	maxPacked = 8 << 20
	// maxWalked bounds the entries of directories that were renamed, maxDepth their depth.
	maxWalked = 10_000
	maxDepth  = 32
	// maxRemembered bounds the files that the last search looks at again.
	maxRemembered = 20_000
	// maxAttributes bounds a file's extended attributes, in bytes.
	maxAttributes = 64 << 10
	// maxTries bounds how often a file is read that changes meanwhile.
	maxTries = 3
	// maxTold bounds the losses of one search that are told apart.
	maxTold = 5
)

// search looks for decoys in files that the target wrote: those at paths, those
// that it holds open for writing, whether they have a name or not, and at the
// last search those of earlier ones that have changed since. It tells each find,
// and as a loss whatever it could not look into.
func (a *agent) search(paths []string, last bool) {
	if len(a.cfg.Canaries) == 0 {
		return
	}
	s := a.written
	if s.decoys == nil {
		s.decoys = canaries.FromCanaries(a.cfg.Canaries)
	}
	s.begin(time.Now().Add(maxSearchTime))
	for _, p := range paths {
		s.path(p)
	}
	targets, err := a.listTargets()
	if err != nil {
		s.unsearched("/proc", err)
	}
	for _, t := range targets {
		s.process(t.pid, a.mounts)
	}
	if last {
		s.again()
	}
	s.end()
}

// searcher looks for decoys in files. It belongs to one goroutine.
type searcher struct {
	sys    system
	decoys *canaries.Set
	emit   func(session.Body)
	// own are the decoys' own files, as they were planted. They are not read: the
	// watch on them would take that for the target's reading.
	own map[inode]version
	// known are the files that were searched, by path, as they were then.
	known map[string]version
	// shared are those that were mapped for writing: that need not change a version.
	shared map[string]bool
	// full says that known had no room, overwritten that a decoy's own file was changed.
	full, overwritten bool

	// Of one search: the files looked into, the bytes and entries left, the losses.
	seen     map[inode]bool
	nameless map[string]bool // files that only descriptors and mappings lead to
	left     int64
	decoded  int64 // what is left of maxDecoded
	walked   int
	deadline time.Time
	lost     int
}

// inode is a file's identity.
type inode struct{ dev, ino uint64 }

// version is what a file's change changes.
type version struct {
	inode
	size         int64
	mtime, ctime unix.Timespec
}

func versionOf(st *unix.Stat_t) version {
	return version{inode{st.Dev, st.Ino}, st.Size, st.Mtim, st.Ctim}
}

// newSearcher takes down the decoys' own files as they are: the target has not run yet.
func newSearcher(own []string, emit func(session.Body)) *searcher {
	s := &searcher{sys: kernel{}, emit: emit, own: map[inode]version{}, known: map[string]version{}, shared: map[string]bool{}}
	for _, p := range own {
		var st unix.Stat_t
		if unix.Lstat(p, &st) == nil {
			s.own[inode{st.Dev, st.Ino}] = versionOf(&st)
		}
	}
	return s
}

func (s *searcher) begin(deadline time.Time) {
	s.seen, s.nameless = map[inode]bool{}, map[string]bool{}
	s.left, s.decoded, s.walked, s.deadline, s.lost = maxSearched, maxDecoded, maxWalked, deadline, 0
}

func (s *searcher) end() {
	if more := s.lost - maxTold; more > 0 {
		s.loss(fmt.Sprintf("%d more of the files that were written were not searched", more))
	}
	if s.full {
		s.loss(fmt.Sprintf("more than %d files were written: whether the others changed after a search is not known", maxRemembered))
	}
}

func (s *searcher) loss(reason string) {
	s.emit(session.EventLoss{Code: session.GapFilesNotSearched, Reason: reason})
}

// unsearched notes a file that was not, or not wholly, searched.
func (s *searcher) unsearched(name string, err error) {
	if s.lost++; s.lost <= maxTold {
		s.loss(fmt.Sprintf("%q was written and not searched: %v", name, err))
	}
}

// isGone reports whether an error says that nothing has a name: what is there no
// more holds nothing. Where a descriptor still leads to it, process finds it; where
// it was moved to, its rename says.
func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// path looks into what has a name, whatever it is.
func (s *searcher) path(name string) {
	fd, err := s.sys.find(name)
	if isGone(err) {
		return
	}
	if err != nil {
		s.unsearched(name, err)
		return
	}
	defer func() { _ = unix.Close(fd) }()
	s.object(fd, name, 0)
}

// object looks into what a descriptor of O_PATH refers to.
func (s *searcher) object(fd int, name string, depth int) {
	var st unix.Stat_t
	if err := s.sys.stat(fd, &st); err != nil {
		s.unsearched(name, err)
		return
	}
	id := inode{st.Dev, st.Ino}
	if s.seen[id] {
		return
	}
	s.seen[id] = true
	if planted, ok := s.own[id]; ok {
		if versionOf(&st) != planted && !s.overwritten {
			s.overwritten = true
			s.unsearched(name, errors.New("it is a decoy's own file, and was changed"))
		}
		return
	}
	kind := st.Mode & unix.S_IFMT
	if kind != unix.S_IFLNK && kind != unix.S_IFCHR {
		if err := s.attributes(fd, name); err != nil {
			s.unsearched(name, fmt.Errorf("its extended attributes: %w", err))
		}
	}
	var err error
	switch kind {
	case unix.S_IFREG:
		err = s.file(fd, name)
	case unix.S_IFDIR:
		err = s.directory(fd, name, depth)
	case unix.S_IFLNK:
		err = s.link(fd, name)
	case unix.S_IFCHR:
		// The sandbox's own devices keep nothing, and the target can make none.
	case unix.S_IFIFO:
		err = errors.New("it is a FIFO, and what is in it cannot be read without taking it out")
	case unix.S_IFSOCK:
		err = errors.New("a socket has taken its place")
	default:
		err = fmt.Errorf("it has type %#o", kind)
	}
	if err != nil {
		s.unsearched(name, err)
	}
}

// link looks into the text of a symbolic link. It is not followed: what it leads
// to was not written by its name.
func (s *searcher) link(fd int, name string) error {
	b := make([]byte, unix.PathMax)
	n, err := s.sys.readlink(fd, b)
	if err != nil {
		return err
	}
	s.tell(name, s.decoys.Find(b[:n]))
	return nil
}

// directory looks into all that is below one that was moved: the names by which
// files in it were written lead there no more.
func (s *searcher) directory(fd int, name string, depth int) error {
	names, err := s.sys.list(fd, s.walked+1)
	if err != nil {
		return err
	}
	if depth >= maxDepth && len(names) > 0 {
		return fmt.Errorf("it lies more than %d directories deep", maxDepth)
	}
	for _, n := range names {
		if s.walked--; s.walked < 0 {
			return fmt.Errorf("there are more than %d files in the directories that were moved", maxWalked)
		}
		below, err := s.sys.findIn(fd, n)
		if isGone(err) {
			continue
		}
		if err != nil {
			s.unsearched(path.Join(name, n), err)
			continue
		}
		s.object(below, path.Join(name, n), depth+1)
		_ = unix.Close(below)
	}
	return nil
}

// file looks into a regular file, and again where it changed meanwhile.
func (s *searcher) file(fd int, name string) error {
	if fs, err := s.sys.fileSystem(fd); err != nil {
		return err
	} else if fs == unix.PROC_SUPER_MAGIC || fs == unix.SYSFS_MAGIC {
		return errors.New("its place was taken by a file of the kernel's")
	}
	// A lease or a lock must not hold the search up: O_NONBLOCK makes it an error.
	r, err := s.sys.reopen(fd)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("a lease keeps others from opening it: %w", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(r) }()
	for range maxTries {
		var before, after unix.Stat_t
		if err := s.sys.stat(r, &before); err != nil {
			return err
		}
		if err := s.content(r, name, before.Size); err != nil {
			return err
		}
		if err := s.sys.stat(r, &after); err != nil {
			return err
		}
		if now := versionOf(&after); now == versionOf(&before) {
			s.remember(name, now)
			return nil
		}
	}
	return errors.New("it changed while it was read")
}

// content looks into a file's bytes, in pieces.
func (s *searcher) content(fd int, name string, size int64) error {
	if size > s.left {
		return fmt.Errorf("it has %d bytes, and %d of the %d of one search are left", size, s.left, maxSearched)
	}
	decoys := s.decoys.Linear()
	if size <= s.decoded {
		s.decoded -= size
		decoys = s.decoys
	}
	buf := make([]byte, 0, min(size+1, maxPacked))
	for base := int64(0); ; {
		end := false
		for !end && len(buf) < cap(buf) {
			if time.Now().After(s.deadline) {
				return fmt.Errorf("the search took more than %s", maxSearchTime)
			}
			n, err := s.sys.read(fd, buf[len(buf):min(cap(buf), len(buf)+1<<20)], base+int64(len(buf)))
			if err != nil {
				return err
			}
			buf, end = buf[:len(buf)+n], n == 0
			s.left -= int64(n)
		}
		if s.left < 0 {
			return fmt.Errorf("it grew beyond the %d bytes of one search", maxSearched)
		}
		hits, err := decoys.FindBody(buf, nil)
		for i := range hits {
			hits[i].Offset += base
		}
		s.tell(name, hits)
		if err != nil {
			return err
		}
		// A file that grew past what its size promised has changed, and is read again.
		if end || int64(cap(buf)) == size+1 {
			return nil
		}
		half := len(buf) / 2
		base += int64(half)
		buf = buf[:copy(buf, buf[half:])]
	}
}

// attributes looks into a file's extended attributes, names and values.
func (s *searcher) attributes(fd int, name string) error {
	names := make([]byte, maxAttributes)
	n, err := s.sys.listAttributes(fd, names)
	if errors.Is(err, unix.ENOTSUP) {
		return nil
	}
	if err != nil {
		return err
	}
	all := bytes.Clone(names[:n])
	for key := range bytes.SplitSeq(bytes.TrimRight(names[:n], "\x00"), []byte{0}) {
		if !bytes.HasPrefix(key, []byte("user.")) {
			continue // the kernel's, and the sandbox's: the target may not set those
		}
		value := make([]byte, maxAttributes)
		n, err := s.sys.attribute(fd, string(key), value)
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%q: %w", key, err)
		}
		all = append(append(all, value[:n]...), 0)
	}
	s.tell(name, s.decoys.Find(all))
	return nil
}

// tell tells each decoy that was found in a file once.
func (s *searcher) tell(name string, hits []canaries.Hit) {
	told := map[string]bool{}
	for _, h := range hits {
		if !told[h.ID] {
			told[h.ID] = true
			s.emit(session.EventFound{Path: name, Canary: h.ID, Encoding: h.Encoding, Offset: h.Offset})
		}
	}
}

func (s *searcher) remember(name string, v version) {
	if _, ok := s.known[name]; !ok && len(s.known) >= maxRemembered {
		s.full = true
		return
	}
	s.known[name] = v
}

// again looks into the files of earlier searches that have changed since: a file
// that stays open, or mapped, is written to without being opened again.
func (s *searcher) again() {
	names := make([]string, 0, len(s.known))
	for name := range s.known {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, unnamedPrefix) {
			continue // process looks at those
		}
		fd, err := s.sys.find(name)
		if isGone(err) {
			continue
		}
		if err != nil {
			s.unsearched(name, err)
			continue
		}
		var st unix.Stat_t
		if err := s.sys.stat(fd, &st); err != nil {
			s.unsearched(name, err)
		} else if versionOf(&st) != s.known[name] || s.shared[name] {
			s.object(fd, name, 0)
		}
		_ = unix.Close(fd)
	}
}
