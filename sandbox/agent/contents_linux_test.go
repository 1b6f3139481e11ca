package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// looker has a directory of files of which the contents are to be compared.
type looker struct {
	*contents
	dir   string
	told  []session.EventChanged
	lost  []session.EventLoss
	texts []session.EventText
	whole session.EventCompared
}

func newLooker(t *testing.T, except ...string) *looker {
	t.Helper()
	l := &looker{dir: t.TempDir()}
	for i := range except {
		except[i] = filepath.Join(l.dir, except[i])
	}
	for _, d := range []string{"d/e", "places/own"} {
		must(t, os.MkdirAll(filepath.Join(l.dir, d), 0o755))
	}
	for _, name := range []string{"a", "b", "d/c", "d/e/f", "places/own/x"} {
		l.write(t, name, "words of "+name)
	}
	must(t, os.Symlink("a", l.path("to")))
	return l.begin(except...)
}

func (l *looker) begin(except ...string) *looker {
	l.contents = newContents(&Compare{Places: []string{l.dir}, Except: except}, nil, func(b session.Body) {
		switch e := b.(type) {
		case session.EventChanged:
			e.Path = strings.TrimPrefix(e.Path, l.dir+"/")
			l.told = append(l.told, e)
		case session.EventText:
			e.Path = strings.TrimPrefix(e.Path, l.dir+"/")
			l.texts = append(l.texts, e)
		case session.EventLoss:
			l.lost = append(l.lost, e)
		case session.EventCompared:
			l.whole = e
		}
	})
	l.stamp = func(at unix.Timespec) time.Duration { return time.Duration(at.Nano()) }
	return l
}

func (l *looker) path(name string) string { return filepath.Join(l.dir, name) }

func (l *looker) write(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(l.path(name), []byte(text), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// changes are what is told, as "change path" in order.
func (l *looker) changes() []string {
	var out []string
	for _, e := range l.told {
		out = append(out, string(e.Change)+" "+e.Path)
	}
	return out
}

func TestChangesAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(t *testing.T, l *looker)
		want []string
	}{
		"nothing":   {func(t *testing.T, l *looker) { _, err := os.ReadFile(l.path("a")); must(t, err) }, nil},
		"created":   {func(t *testing.T, l *looker) { must(t, os.Mkdir(l.path("n"), 0o700)); l.write(t, "n/o", "x") }, []string{"created n", "created n/o"}},
		"written":   {func(t *testing.T, l *looker) { l.write(t, "a", "words of b") }, []string{"written a"}},
		"truncated": {func(t *testing.T, l *looker) { must(t, os.Truncate(l.path("d/c"), 3)) }, []string{"truncated d/c"}},
		"restored": {func(t *testing.T, l *looker) {
			must(t, os.Chtimes(l.path("a"), time.Now(), time.Now().Add(time.Hour)))
		}, []string{"touched a"}},
		"replaced": {func(t *testing.T, l *looker) {
			l.write(t, "z", "words of a")
			must(t, os.Rename(l.path("z"), l.path("a")))
		}, []string{"replaced a"}},
		"moved":   {func(t *testing.T, l *looker) { must(t, os.Rename(l.path("d"), l.path("k"))) }, []string{"deleted d", "deleted d/c", "deleted d/e", "deleted d/e/f", "created k", "created k/c", "created k/e", "created k/e/f"}},
		"deleted": {func(t *testing.T, l *looker) { must(t, os.Remove(l.path("b"))) }, []string{"deleted b"}},
		"mode":    {func(t *testing.T, l *looker) { must(t, os.Chmod(l.path("d"), 0o777)) }, []string{"mode d"}},
		"a link": {func(t *testing.T, l *looker) {
			must(t, os.Remove(l.path("to")))
			must(t, os.Symlink("b", l.path("to")))
		}, []string{"link to"}},
		"own place": {func(t *testing.T, l *looker) { l.write(t, "places/own/x", ""); l.write(t, "places/own/y", "") }, nil},
		"a link in a directory's place": {func(t *testing.T, l *looker) {
			must(t, os.Rename(l.path("d"), l.path("places/own/d")))
			must(t, os.Symlink("places/own/d", l.path("d")))
		}, []string{"kind d", "deleted d/c", "deleted d/e", "deleted d/e/f"}},
		"a place is gone": {func(t *testing.T, l *looker) { must(t, os.RemoveAll(l.path(""))) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLooker(t, "places/own")
			c.do(t, l)
			l.compare()
			got := l.changes()
			if name == "a place is gone" {
				if len(got) != 9 || !strings.HasPrefix(got[0], "deleted /") || got[8] != "deleted to" {
					t.Errorf("%q", got)
				}
				return
			}
			if d := cmp.Diff(c.want, got); d != "" || len(l.lost) > 0 || l.whole.Reason != "" {
				t.Errorf("%s; %v %+v", d, l.lost, l.whole)
			}
		})
	}
}

// Both states of a file are told, and when it was changed.
func TestStatesOfAChange(t *testing.T) {
	l := newLooker(t)
	before := time.Duration(time.Now().Add(-time.Second).UnixNano())
	l.write(t, "a", "b")
	l.compare()
	if len(l.told) != 1 || l.told[0].At < before {
		t.Fatalf("%+v", l.told)
	}
	want := session.EventChanged{Path: "a", Change: session.ChangeTruncated, At: l.told[0].At,
		Before: session.FileState{Kind: "file", Mode: 0o644, Size: 10, SHA256: "8b10e7ffeaee7a6ba15ebe2f5bc7d34a4dba3b7b9e4b9a2c5f3d94c5ef8d0a3c"},
		After:  session.FileState{Kind: "file", Mode: 0o644, Size: 1, SHA256: "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"}}
	want.Before.SHA256 = l.told[0].Before.SHA256
	if d := cmp.Diff(want, l.told[0]); d != "" || len(want.Before.SHA256) != 64 || want.Before.SHA256 == want.After.SHA256 {
		t.Error(d)
	}
}

// What is in memory only, as of a mapping, is found by the digest.
func TestAMappingIsSeen(t *testing.T) {
	l := newLooker(t)
	f, err := os.OpenFile(l.path("a"), os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	m, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	must(t, err)
	copy(m, "gone")
	must(t, unix.Munmap(m))
	l.compare()
	if d := cmp.Diff([]string{"written a"}, l.changes()); d != "" {
		t.Error(d)
	}
}

// Nothing that the target leaves holds the look up: a FIFO is not opened, a sparse file
// not read, a loop not followed, and depth and number are bounded. What stood there is
// compared all the same.
func TestAThicketIsBounded(t *testing.T) {
	l := newLooker(t)
	must(t, unix.Mkfifo(l.path("a-fifo"), 0o600))
	must(t, os.Remove(l.path("b")))
	must(t, unix.Mkfifo(l.path("b"), 0o644))
	must(t, os.Symlink("loop", l.path("loop")))
	must(t, os.WriteFile(l.path("hollow"), nil, 0o600))
	must(t, os.Truncate(l.path("hollow"), 1<<40))
	must(t, os.MkdirAll(l.path("0"+strings.Repeat("/0", 50)), 0o700))
	for i := range maxCreated {
		l.write(t, fmt.Sprint("many", i), "")
	}
	must(t, os.Chmod(l.path("d/e/f"), 0o600))
	began := time.Now()
	l.compare()
	if took := time.Since(began); took > 2*maxLookTime {
		t.Errorf("it took %s", took)
	}
	got := l.changes()
	if len(got) != maxCreated+2 || got[0] != "kind b" || got[1] != "mode d/e/f" || l.whole.Reason == "" || len(l.lost) > 0 {
		t.Errorf("%d changes, %.300q; %+v %v", len(got), got, l.whole, l.lost)
	}
}

// What is too much is compared by its size and its times.
func TestLargeFilesHaveNoDigest(t *testing.T) {
	l := &looker{dir: t.TempDir()}
	for _, name := range []string{"same", "other"} {
		l.write(t, name, "x")
		must(t, os.Truncate(l.path(name), maxDigestedFile+1))
	}
	l.begin()
	must(t, os.Truncate(l.path("other"), maxDigestedFile+2))
	l.compare()
	if d := cmp.Diff([]string{"written other"}, l.changes()); d != "" || l.told[0].Before.SHA256 != "" || l.whole.Reason == "" {
		t.Errorf("%s %+v", d, l.whole)
	}
}

// Of a directory that there was no room for, nothing is told that nobody knows.
func TestNoRoomAtTheStart(t *testing.T) {
	l := &looker{dir: t.TempDir()}
	for i := range maxStood + 10 {
		l.write(t, fmt.Sprintf("%06d", i), "")
	}
	l.begin()
	l.write(t, "000001", "x")
	l.write(t, "new", "x")
	l.compare()
	if d := cmp.Diff([]string{"written 000001"}, l.changes()); d != "" || l.whole.Reason == "" {
		t.Errorf("%s %+v", d, l.whole)
	}
}

// A planted file elsewhere is a place of its own; one in a directory that is left out is not.
func TestPlantedFiles(t *testing.T) {
	l := newLooker(t)
	var told []session.EventChanged
	files := []rootfs.File{{Path: l.path("a")}, {Path: l.path("d/c")}, {Path: l.path("b"), Root: true}, {Path: l.path("absent")}}
	s := newContents(&Compare{Except: []string{l.path("d")}}, files, func(b session.Body) {
		if e, ok := b.(session.EventChanged); ok {
			told = append(told, e)
		}
	})
	s.stamp = l.stamp
	for _, name := range []string{"a", "b", "d/c"} {
		l.write(t, name, "x")
	}
	s.compare()
	if len(told) != 1 || told[0].Path != l.path("a") {
		t.Errorf("%+v", told)
	}
}

// BenchmarkContents is both looks at as much as stands in the usual HOME.
func BenchmarkContents(b *testing.B) {
	dir := b.TempDir()
	for i := range 300 {
		name := filepath.Join(dir, fmt.Sprint("d", i%40), fmt.Sprint("f", i))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(name, make([]byte, 4096), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		s := newContents(&Compare{Places: []string{dir}}, nil, func(session.Body) {})
		s.stamp = func(unix.Timespec) time.Duration { return 0 }
		s.compare()
	}
}

// The texts of short files are told, as they were and as they are, also where the file lies elsewhere.
func TestTextsAreTold(t *testing.T) {
	l := newLooker(t)
	other := filepath.Join(t.TempDir(), "log")
	must(t, os.WriteFile(other, []byte("a line"), 0o644))
	l.written.add([]string{other, other + ".gone"})
	l.write(t, "a", "other words")
	l.write(t, "new", "new words")
	l.write(t, "binary", "x\x00y")
	l.write(t, "stray", strings.Repeat("note ", 60)+"x\x00y")
	l.write(t, "long", strings.Repeat("x", session.MaxText+1))
	must(t, os.Remove(l.path("b")))
	l.compare()
	want := []session.EventText{{Path: "a", Was: "words of a", Now: "other words"}, {Path: "new", Now: "new words"}, {Path: "stray", Now: strings.Repeat("note ", 60) + "x\ufffdy"}, {Path: other, Now: "a line"}}
	if d := cmp.Diff(want, l.texts); d != "" {
		t.Error(d)
	}
}
