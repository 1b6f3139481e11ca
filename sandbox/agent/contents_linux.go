package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Bounds on what is remembered of the target's places. What meets one is said by
// session.EventCompared; it is a loss only where it stood there before the target did.
const (
	// maxStood bounds what is remembered, maxCreated what is told of what was made.
	maxStood, maxCreated = 8192, 2000
	// maxDigested bounds the bytes that are read at one look, maxDigestedFile those of
	// one file: a sparse one has a size and no digest.
	maxDigested, maxDigestedFile = 48 << 20, 8 << 20
	// maxLookTime bounds each look.
	maxLookTime = 2 * time.Second
	// maxTexts bounds the texts that are remembered and told, in bytes each.
	maxTexts = 2 << 20
)

// contents are what stood in the target's places before it started. Both looks are
// taken while no process of the target's lives. No link is followed below a place,
// and only what is a regular file, by the descriptor that leads to it, is opened.
type contents struct {
	places []place
	except map[string]bool
	// stamp is a moment of a file's times on the run's clock, 0 where that is not known.
	stamp func(unix.Timespec) time.Duration
	emit  func(session.Body)

	// Of one look: what is left of its bounds, what it took, and what kept it from more.
	room     int
	left     int64
	texts    int
	deadline time.Time
	files    int64
	bytes    int64
	short    string
	// new says that what is looked at did not stand there before: its digest is only for people.
	new bool
	// written are the files that the target opened for writing, wherever they lie.
	written names
	// told are the files that were looked at again, or are new, and toldTexts the bytes of texts that were told.
	told      map[string]bool
	toldTexts int
	// missed counts what stood there and could not be looked at again.
	missed int
	why    string
}

// place is a directory, or one planted file, whose contents are compared.
type place struct {
	// name is its path as the target knows it, real the same without links.
	name, real string
	// overlay says that a file system keeps it which gives a file new times and
	// another number when it is opened for writing first.
	overlay bool
	stood   *stood
}

// stood is what stood at a path.
type stood struct {
	session.FileState
	version
	// text is that of a short file, "" for any other.
	text string
	// below is what is in a directory; partial says that not all of it was taken down.
	below   map[string]*stood
	partial bool
}

// newContents looks at the target's places. Planted files of the target's that lie
// elsewhere are places of their own.
func newContents(c *Compare, files []rootfs.File, emit func(session.Body)) *contents {
	s := &contents{except: map[string]bool{}, told: map[string]bool{}, emit: emit}
	s.begin(maxStood)
	for _, dir := range slices.Concat(c.Except, c.Places) {
		s.except[dir] = true // a place within another is looked at by itself
	}
	for _, dir := range c.Places {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			s.place(dir, real)
		}
	}
	for _, f := range files {
		if !f.Root && !f.Dir && !slices.ContainsFunc(slices.Concat(c.Places, c.Except), func(dir string) bool { return strings.HasPrefix(f.Path, dir+"/") }) {
			if dir, err := filepath.EvalSymlinks(path.Dir(f.Path)); err == nil {
				s.place(f.Path, path.Join(dir, path.Base(f.Path)))
			}
		}
	}
	return s
}

func (s *contents) begin(room int) {
	s.room, s.left, s.deadline = room, maxDigested, time.Now().Add(maxLookTime)
	s.files, s.bytes, s.texts = 0, 0, maxTexts
}

// place remembers what stands at a path. What is not there is no place.
func (s *contents) place(name, real string) {
	p := place{name: name, real: real}
	fd, err := p.open()
	if err != nil {
		if !isGone(err) {
			s.short = fmt.Sprintf("%q: %v", name, err)
		}
		return
	}
	defer func() { _ = unix.Close(fd) }()
	p.overlay = onOverlay(fd)
	if p.stood, err = s.look(fd); err != nil {
		return
	}
	s.remember(p.stood, fd, name)
	s.places = append(s.places, p)
}

func (p *place) open() (int, error) {
	return openPath(unix.AT_FDCWD, p.real, unix.RESOLVE_NO_SYMLINKS)
}

// below opens what has a name in a directory, and stays in its file system.
func below(dir int, name string) (int, error) {
	return openPath(dir, name, unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_BENEATH|unix.RESOLVE_NO_XDEV)
}

func onOverlay(fd int) bool {
	fs, err := kernel{}.fileSystem(fd)
	return err == nil && fs == unix.OVERLAYFS_SUPER_MAGIC
}

// remember takes down all that is below a directory.
func (s *contents) remember(n *stood, fd int, name string) {
	if n.Kind != "directory" {
		return
	}
	n.below = map[string]*stood{}
	n.partial = !s.each(fd, name, nil, func(base string, fd int, what *stood) {
		n.below[base] = what
		s.remember(what, fd, path.Join(name, base))
	})
}

// each looks at what is in a directory, in the order of the names, as far as there is
// room; what is known of it needs none, and is not looked at again. It reports whether
// that was all.
func (s *contents) each(dir int, name string, known map[string]*stood, do func(base string, fd int, what *stood)) (whole bool) {
	if strings.Count(name, "/") > maxDepth {
		s.short = fmt.Sprintf("it lies more than %d directories deep", maxDepth)
		return false
	}
	names, err := kernel{}.list(dir, s.room+1+len(known))
	if err != nil {
		s.short = fmt.Sprintf("%q: %v", name, err)
		return false
	}
	slices.Sort(names)
	whole = true
	for _, base := range names {
		at, what := path.Join(name, base), known[base]
		if s.except[at] || what != nil && what.below == nil {
			continue
		}
		if what == nil {
			s.room--
		}
		if s.room < 0 || time.Now().After(s.deadline) {
			s.short = "there is more than coalmine reads"
			return false
		}
		fd, err := below(dir, base)
		if errors.Is(err, unix.EXDEV) || isGone(err) {
			continue // another file system is another place
		}
		if err == nil && what == nil {
			what, err = s.look(fd)
		}
		if err != nil {
			s.short, whole = fmt.Sprintf("%q: %v", at, err), false
		} else {
			do(base, fd, what)
		}
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
	return whole
}

var kinds = map[uint32]string{
	unix.S_IFREG: "file", unix.S_IFDIR: "directory", unix.S_IFLNK: "link", unix.S_IFIFO: "fifo", unix.S_IFSOCK: "socket", unix.S_IFCHR: "device", unix.S_IFBLK: "device",
}

// look says what a descriptor of O_PATH refers to. Only a regular file is opened.
func (s *contents) look(fd int) (*stood, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("look at a file: %w", err)
	}
	s.files++
	n := &stood{version: versionOf(&st)}
	n.Kind = kinds[st.Mode&unix.S_IFMT]
	switch n.Kind {
	case "link":
		b := make([]byte, unix.PathMax)
		length, err := kernel{}.readlink(fd, b)
		if err != nil {
			return nil, fmt.Errorf("read a link: %w", err)
		}
		n.Link = string(b[:length])
		return n, nil
	case "file":
		n.Size = st.Size
		n.SHA256, n.text = s.digest(fd, st.Size)
	}
	n.Mode = st.Mode & 0o7777
	return n, nil
}

// digest is that of a file's contents, "" where they are too long, or not to be read, with the text of a
// short file.
func (s *contents) digest(fd int, size int64) (sum, text string) {
	if size > maxDigestedFile || size > s.left || time.Now().After(s.deadline) {
		if !s.new {
			s.short = "there is more to read than is read"
		}
		return "", ""
	}
	// The decoys keep the times of their last reading where the kernel lets them.
	r, err := unix.Open(selfFile(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC|unix.O_NOCTTY|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		r, err = kernel{}.reopen(fd)
	}
	if err != nil {
		return "", ""
	}
	defer func() { _ = unix.Close(r) }()
	hash, buf := sha256.New(), make([]byte, min(size+1, 1<<20))
	for at := int64(0); ; {
		n, err := kernel{}.read(r, buf, at)
		if err != nil || at+int64(n) > maxDigestedFile {
			return "", ""
		}
		if n == 0 {
			return hex.EncodeToString(hash.Sum(nil)), s.keep(text)
		}
		if len(text)+n <= session.MaxText {
			text += string(buf[:n])
		} else {
			text = "\x00" // no short one
		}
		_, _ = hash.Write(buf[:n])
		at, s.left, s.bytes = at+int64(n), s.left-int64(n), s.bytes+int64(n)
	}
}

// compare looks again and tells what is otherwise: first at all that stood there,
// which nothing that the target made can crowd out, and then for what is new.
func (s *contents) compare() {
	s.begin(maxStood)
	for _, p := range s.places {
		fd, err := p.open()
		s.again(p.name, p.stood, fd, err, p.overlay)
		if err == nil {
			_ = unix.Close(fd)
		}
	}
	s.new, s.room, s.deadline = true, maxCreated, time.Now().Add(maxLookTime)
	for _, p := range s.places {
		if fd, err := p.open(); err == nil {
			s.news(p.name, p.stood, fd)
			_ = unix.Close(fd)
		}
	}
	s.elsewhere()
	if s.missed > 0 {
		s.emit(session.EventLoss{Code: session.GapFilesNotCompared, N: int64(s.missed),
			Reason: fmt.Sprintf("%d of the files that stood there before the server could not be looked at again: %s", s.missed, s.why)})
	}
	s.emit(session.EventCompared{Files: s.files, Bytes: s.bytes, Reason: s.short})
}

// again compares what stands at a path, opened as fd, with what stood there.
func (s *contents) again(name string, was *stood, fd int, err error, overlay bool) {
	var now *stood
	if err == nil {
		now, err = s.look(fd)
	}
	switch {
	case isGone(err) || errors.Is(err, unix.ELOOP): // a link has taken the place of a directory above
		s.gone(name, was)
		return
	case err != nil:
		s.miss(name, err)
		return
	}
	if change := differs(was, now, overlay); change != "" {
		s.emit(session.EventChanged{Path: name, Change: change, Before: was.FileState, After: now.FileState, At: s.changedAt(was, now)})
		s.tellText(name, was.text, now.text)
	}
	s.told[name] = true
	for _, base := range slices.Sorted(maps.Keys(was.below)) {
		if now.Kind != "directory" {
			s.gone(path.Join(name, base), was.below[base])
			continue
		}
		child, err := below(fd, base)
		s.again(path.Join(name, base), was.below[base], child, err, overlay)
		if err == nil {
			_ = unix.Close(child)
		}
	}
}

// gone tells that all that stood at a path does no more.
func (s *contents) gone(name string, was *stood) {
	s.emit(session.EventChanged{Path: name, Change: session.ChangeDeleted, Before: was.FileState})
	for _, base := range slices.Sorted(maps.Keys(was.below)) {
		s.gone(path.Join(name, base), was.below[base])
	}
}

func (s *contents) miss(name string, err error) {
	if s.missed++; s.missed == 1 {
		s.why = fmt.Sprintf("%q: %v", name, err)
	}
}

// news tells what stands below a directory and did not before.
func (s *contents) news(name string, was *stood, dir int) {
	var st unix.Stat_t
	if unix.Fstat(dir, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFDIR || was.partial {
		return
	}
	s.each(dir, name, was.below, func(base string, fd int, what *stood) {
		at := path.Join(name, base)
		if was.below[base] == nil {
			s.emit(session.EventChanged{Path: at, Change: session.ChangeCreated, After: what.FileState, At: s.stamp(what.ctime)})
			s.tellText(at, "", what.text)
			s.told[at] = true
		}
		s.news(at, what, fd)
	})
}

// differs says how what stands at a path is not what stood there, "" where it is.
func differs(was, now *stood, overlay bool) session.Change {
	moved := was.inode != now.inode && !overlay
	other := was.SHA256 != now.SHA256
	if was.SHA256 == "" || now.SHA256 == "" {
		other = was.Size != now.Size || was.mtime != now.mtime
	}
	switch {
	case was.Kind != now.Kind:
		return session.ChangeKind
	case was.Link != now.Link:
		return session.ChangeLink
	case moved:
		return session.ChangeReplaced
	case was.Kind != "file":
		other = false
	}
	switch {
	case other && now.Size < was.Size:
		return session.ChangeTruncated
	case other:
		return session.ChangeWritten
	case was.Mode != now.Mode:
		return session.ChangeMode
	case was.Kind == "file" && (was.mtime != now.mtime || was.ctime != now.ctime && !overlay):
		return session.ChangeTouched
	}
	return ""
}

// changedAt is when a file was changed last, 0 where its times do not tell.
func (s *contents) changedAt(was, now *stood) time.Duration {
	if was.ctime == now.ctime {
		return 0
	}
	return s.stamp(now.ctime)
}

// compare tells what the target made of the files in its places. None of its processes
// is left, and the decoys are watched no more: these reads are nobody's.
func (a *agent) compare() {
	if a.contents == nil {
		return
	}
	a.flush(true)
	if a.watcher != nil {
		a.watcher.disarm()
	}
	a.contents.stamp = a.stamp
	if !a.steady() {
		a.contents.stamp = func(unix.Timespec) time.Duration { return 0 }
	}
	a.contents.compare()
}

// maxTimed bounds the files of one search whose times are told.
const maxTimed = 500

// tellTimes tells when files that were opened for writing were changed last.
func (a *agent) tellTimes(paths []string) {
	if !a.steady() {
		return
	}
	for _, p := range paths[:min(len(paths), maxTimed)] {
		fd, err := kernel{}.find(p)
		if err != nil {
			continue
		}
		var st unix.Stat_t
		if unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFREG {
			// The target may set the one and not the other, which an overlay sets when
			// the file is opened for writing first.
			at := st.Ctim
			if onOverlay(fd) {
				at = st.Mtim
			}
			a.emit(session.EventLastWrite{Path: p, At: a.stamp(at)})
		}
		_ = unix.Close(fd)
	}
}

// steady reports whether the machine's clock, by which the times of files are made,
// was not set since the start.
func (a *agent) steady() bool {
	off := realtimeOffset() - a.offset
	return -maxStep < off && off < maxStep
}

// stamp is a moment of a file's times on the run's clock.
func (a *agent) stamp(at unix.Timespec) time.Duration {
	return max(0, time.Duration(at.Nano())-a.offset)
}

// maxStep is how far two readings of the machine's clock may be apart.
const maxStep = 5 * time.Millisecond
