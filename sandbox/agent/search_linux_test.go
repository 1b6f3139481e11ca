package agent

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const hidden = "Zk3vQ9mW7xLr2TnB8yHcE5uD"

// look is a searcher over this process's files, and what it says.
type look struct {
	*searcher
	found, lost []string
}

func newLook(own ...string) *look {
	l := &look{}
	l.searcher = newSearcher(own, func(b session.Body) {
		switch e := b.(type) {
		case session.EventFound:
			l.found = append(l.found, e.Path)
		case session.EventLoss:
			l.lost = append(l.lost, string(e.Code)+": "+e.Reason)
		}
	})
	l.decoys = canaries.FromCanaries([]canaries.Canary{{ID: "decoy", Kind: "token", Value: hidden}})
	return l
}

// over is one search.
func (l *look) over(last bool, paths ...string) {
	l.begin(time.Now().Add(maxSearchTime))
	for _, p := range paths {
		l.path(p)
	}
	l.process(os.Getpid(), "")
	if last {
		l.again()
	}
	l.end()
}

func put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func do(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// held is a file that stays open until the test's end.
func held(t *testing.T, name string, flags int) *os.File {
	t.Helper()
	f, err := os.OpenFile(name, flags, 0o600)
	do(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// hideouts are ways to write a decoy where a search may miss it: each is found,
// or its gap says that it was not looked into.
var hideouts = []struct {
	name string
	want string // "found", or what the gap says
	hide func(t *testing.T, dir string) (paths []string)
}{
	{"plain", "found", func(t *testing.T, dir string) []string { return []string{put(t, dir+"/a", hidden)} }},
	{"lease", "lease", func(t *testing.T, dir string) []string {
		f := held(t, put(t, dir+"/a", hidden), os.O_RDWR)
		_, err := unix.FcntlInt(f.Fd(), unix.F_SETLEASE, unix.F_WRLCK)
		do(t, err)
		return []string{f.Name()}
	}},
	{"FIFO", "FIFO", func(t *testing.T, dir string) []string {
		do(t, unix.Mkfifo(dir+"/a", 0o600))
		_, err := held(t, dir+"/a", os.O_RDWR|unix.O_NONBLOCK).WriteString(hidden)
		do(t, err)
		return []string{dir + "/a"}
	}},
	{"socket", "socket", func(t *testing.T, dir string) []string {
		ln, err := net.Listen("unix", dir+"/a")
		do(t, err)
		t.Cleanup(func() { _ = ln.Close() })
		return []string{dir + "/a"}
	}},
	{"sparse", "bytes", func(t *testing.T, dir string) []string {
		p := put(t, dir+"/a", hidden)
		do(t, os.Truncate(p, maxSearched+1))
		return []string{p}
	}},
	{"packed within a large file", "found", func(t *testing.T, dir string) []string {
		var b bytes.Buffer
		b.Write(bytes.Repeat([]byte("x"), maxPacked+100))
		z := gzip.NewWriter(&b)
		_, err := z.Write([]byte(hidden))
		do(t, errors.Join(err, z.Close()))
		b.Write(bytes.Repeat([]byte("y"), 100))
		return []string{put(t, dir+"/a", b.String())}
	}},
	{"deleted and open", "found", func(t *testing.T, dir string) []string {
		f := held(t, put(t, dir+"/a", hidden), os.O_RDWR)
		do(t, os.Remove(f.Name()))
		return []string{f.Name()}
	}},
	{"deleted and open for reading", "found", func(t *testing.T, dir string) []string {
		f := held(t, put(t, dir+"/a", hidden), os.O_RDONLY)
		do(t, os.Remove(f.Name()))
		return []string{f.Name()}
	}},
	{"O_TMPFILE", "found", func(t *testing.T, dir string) []string {
		f := held(t, dir, unix.O_TMPFILE|os.O_RDWR)
		_, err := f.WriteString(hidden)
		do(t, err)
		return nil
	}},
	{"memfd", "found", func(t *testing.T, _ string) []string {
		fd, err := unix.MemfdCreate("a", 0)
		do(t, err)
		f := os.NewFile(uintptr(fd), "a")
		t.Cleanup(func() { _ = f.Close() })
		_, err = f.WriteString(hidden)
		do(t, err)
		return nil
	}},
	{"mapped alone", "found", func(t *testing.T, dir string) []string { return mappedAlone(t, dir, len(hidden)) }},
	{"mapped alone, and large", "mapping", func(t *testing.T, dir string) []string { return mappedAlone(t, dir, maxMapped+1) }},
	{"a name that is not UTF-8", "found", func(t *testing.T, dir string) []string { return []string{put(t, dir+"/\xff\xfe", hidden)} }},
	{"below a directory that was moved", "found", func(t *testing.T, dir string) []string {
		put(t, dir+"/a/b/c", hidden)
		do(t, os.Rename(dir+"/a", dir+"/z"))
		return []string{dir + "/a/b/c", dir + "/z"}
	}},
	{"below one that a link replaced", "found", func(t *testing.T, dir string) []string {
		put(t, dir+"/a/c", hidden)
		put(t, dir+"/other/c", "nothing")
		do(t, errors.Join(os.Rename(dir+"/a", dir+"/z"), os.Symlink("other", dir+"/a")))
		return []string{dir + "/a/c", dir + "/z", dir + "/a"}
	}},
	{"behind a link of /proc", "not searched", func(t *testing.T, dir string) []string {
		do(t, os.Symlink("/proc/self/root", dir+"/a"))
		return []string{dir + "/a" + put(t, dir+"/c", hidden)}
	}},
	{"deep below", "deep", func(t *testing.T, dir string) []string {
		put(t, dir+"/a"+strings.Repeat("/d", maxDepth+1)+"/c", hidden)
		do(t, os.Rename(dir+"/a", dir+"/z"))
		return []string{dir + "/z"}
	}},
	{"among too many", "more than", func(t *testing.T, dir string) []string {
		do(t, os.Mkdir(dir+"/z", 0o755))
		for n := range maxWalked + 1 {
			do(t, os.Symlink("x", fmt.Sprintf("%s/z/%d", dir, n)))
		}
		return []string{dir + "/z"}
	}},
	{"an extended attribute", "found", func(t *testing.T, dir string) []string {
		p := put(t, dir+"/a", "nothing")
		do(t, unix.Setxattr(p, "user.a", []byte(hidden), 0))
		return []string{p}
	}},
	{"a link's text", "found", func(t *testing.T, dir string) []string {
		do(t, os.Symlink(hidden, dir+"/a"))
		return []string{dir + "/a"}
	}},
}

// mappedAlone maps so many bytes of a file that has no name and no descriptor any more.
func mappedAlone(t *testing.T, dir string, size int) []string {
	f := held(t, put(t, dir+"/a", hidden), os.O_RDWR)
	do(t, f.Truncate(int64(size)))
	m, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	do(t, errors.Join(err, f.Close(), os.Remove(f.Name())))
	t.Cleanup(func() { _ = unix.Munmap(m) })
	return []string{f.Name()}
}

func TestNothingWrittenStaysHidden(t *testing.T) {
	for _, h := range hideouts {
		t.Run(h.name, func(t *testing.T) {
			l := newLook()
			l.over(true, h.hide(t, t.TempDir())...)
			switch lost := strings.Join(l.lost, "\n"); {
			case h.want == "found" && (len(l.found) == 0 || lost != ""):
				t.Errorf("found %q, lost %q", l.found, lost)
			case h.want != "found" && (!strings.HasPrefix(lost, string(session.GapFilesNotSearched)) || !strings.Contains(lost, h.want)):
				t.Errorf("found %q, lost %q, want a gap that says %q", l.found, lost, h.want)
			}
		})
	}
}

// Nobody but the holder may read the file: root may all the same.
func TestModeZeroIsNoHideout(t *testing.T) {
	p := put(t, t.TempDir()+"/a", hidden)
	do(t, os.Chmod(p, 0))
	l := newLook()
	if l.over(true, p); len(l.found)+len(l.lost) != 1 {
		t.Errorf("found %q, lost %q", l.found, l.lost)
	}
}

// What is written after a search, by a descriptor or a mapping that it saw, is
// found by a later one.
func TestWritesAfterASearchAreFound(t *testing.T) {
	for _, name := range []string{"descriptor", "descriptor of no name", "closed descriptor", "mapping"} {
		t.Run(name, func(t *testing.T) {
			p := put(t, t.TempDir()+"/a", strings.Repeat(" ", 100))
			f := held(t, p, os.O_RDWR)
			paths := []string{p}
			var m []byte
			switch name {
			case "descriptor of no name":
				do(t, os.Remove(p))
			case "mapping":
				var err error
				m, err = unix.Mmap(int(f.Fd()), 0, 100, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
				do(t, errors.Join(err, f.Close()))
				m[0] = 'x' // the kernel notes the time of a mapping's first write alone
			}
			l := newLook()
			l.over(false, paths...)
			if m != nil {
				copy(m, hidden)
			} else {
				_, err := f.WriteAt([]byte(hidden), 7)
				do(t, err)
			}
			if name == "closed descriptor" {
				do(t, f.Close())
			}
			if l.over(true); len(l.found) != 1 || len(l.lost) != 0 {
				t.Errorf("found %q, lost %q", l.found, l.lost)
			}
			if m != nil {
				_ = unix.Munmap(m)
			}
		})
	}
}

func TestADecoysOwnFileIsNotRead(t *testing.T) {
	p := put(t, t.TempDir()+"/a", hidden)
	l := newLook(p)
	if l.over(true, p); len(l.found)+len(l.lost) != 0 {
		t.Errorf("found %q, lost %q in a decoy's own file", l.found, l.lost)
	}
	do(t, os.WriteFile(p, []byte("another "+hidden), 0o600))
	if l.over(true, p); len(l.found) != 0 || len(l.lost) != 1 {
		t.Errorf("found %q, lost %q in one that was changed", l.found, l.lost)
	}
}

// faulty is a system whose nth call fails.
type faulty struct {
	kernel
	left int
	err  error
}

func (f *faulty) fails() error {
	if f.left--; f.left == 0 {
		return f.err
	}
	return nil
}

func orElse[T any](f *faulty, call func() (T, error)) (T, error) {
	if err := f.fails(); err != nil {
		var none T
		return none, err
	}
	return call()
}

func (f *faulty) find(p string) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.find(p) })
}
func (f *faulty) findIn(dir int, n string) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.findIn(dir, n) })
}
func (f *faulty) follow(l string) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.follow(l) })
}
func (f *faulty) stat(fd int, st *unix.Stat_t) error {
	_, err := orElse(f, func() (int, error) { return 0, f.kernel.stat(fd, st) })
	return err
}
func (f *faulty) fileSystem(fd int) (int64, error) {
	return orElse(f, func() (int64, error) { return f.kernel.fileSystem(fd) })
}
func (f *faulty) reopen(fd int) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.reopen(fd) })
}
func (f *faulty) read(fd int, p []byte, off int64) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.read(fd, p, off) })
}
func (f *faulty) readlink(fd int, p []byte) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.readlink(fd, p) })
}
func (f *faulty) list(dir, limit int) ([]string, error) {
	return orElse(f, func() ([]string, error) { return f.kernel.list(dir, limit) })
}
func (f *faulty) listAttributes(fd int, p []byte) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.listAttributes(fd, p) })
}
func (f *faulty) attribute(fd int, n string, p []byte) (int, error) {
	return orElse(f, func() (int, error) { return f.kernel.attribute(fd, n, p) })
}

// Whichever call fails, and how: what is found is the same, or a gap says that it may not be.
func TestEveryFailureIsAGap(t *testing.T) {
	dir := t.TempDir()
	paths := []string{put(t, dir+"/a", hidden), dir + "/link", dir + "/z"}
	put(t, dir+"/z/b/c", hidden)
	do(t, errors.Join(os.Symlink(hidden, dir+"/link"), unix.Setxattr(paths[0], "user.a", []byte(hidden), 0)))
	open := held(t, dir+"/gone", os.O_RDWR|os.O_CREATE)
	_, err := open.WriteString(hidden)
	do(t, errors.Join(err, os.Remove(open.Name())))
	search := func(left int, err error) (*look, bool) {
		f := &faulty{left: left, err: err}
		l := newLook()
		l.sys = f
		l.over(true, paths...)
		return l, f.left <= 0
	}
	want, _ := search(0, nil)
	if len(want.found) != 5 || len(want.lost) != 0 {
		t.Fatalf("found %q, lost %q", want.found, want.lost)
	}
	for _, errno := range []error{unix.EIO, unix.EACCES, unix.EPERM, unix.EWOULDBLOCK, unix.ELOOP, unix.EMFILE, unix.ENOMEM, unix.ESTALE, unix.EINVAL, unix.ETXTBSY} {
		for n := 1; ; n++ {
			got, reached := search(n, errno)
			if !reached {
				if n < 20 {
					t.Errorf("only %d calls were made", n)
				}
				break
			}
			if len(got.lost) == 0 && strings.Join(got.found, " ") != strings.Join(want.found, " ") {
				t.Errorf("%v at call %d: found %q, and no gap", errno, n, got.found)
			}
		}
	}
}

// growing is a system in which a file grows whenever it is read.
type growing struct {
	kernel
	name string
}

func (g growing) read(fd int, p []byte, off int64) (int, error) {
	if st, err := os.Stat(g.name); err == nil {
		_ = os.Truncate(g.name, st.Size()+1)
	}
	return g.kernel.read(fd, p, off)
}

func TestAFileThatNeverRestsIsAGap(t *testing.T) {
	p := put(t, t.TempDir()+"/a", "nothing")
	l := newLook()
	l.sys = growing{name: p}
	if l.over(false, p); len(l.lost) != 1 || !strings.Contains(l.lost[0], "changed while it was read") {
		t.Errorf("lost %q", l.lost)
	}
}

func FuzzWhatIsKeptIsWhole(f *testing.F) {
	f.Add("a", []byte("x"))
	f.Add("\xff", []byte("x"))
	f.Add("big", bytes.Repeat([]byte("x"), maxKeptFile+1))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		if strings.ContainsAny(name, "/\x00") || name == "" || name == "." || name == ".." || len(name) > 200 {
			t.Skip()
		}
		p := put(t, filepath.Join(t.TempDir(), name), string(data))
		got, err := readKept(p)
		if err == nil && !bytes.Equal(got.Data, data) {
			t.Errorf("kept %d of %d bytes", len(got.Data), len(data))
		}
	})
}
