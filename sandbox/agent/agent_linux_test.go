package agent

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestUsageSumsTheDeadToo(t *testing.T) {
	u := usage{}
	u.sample([]task{{pid: -1, start: 1, threads: 3, cpu: time.Second}, {pid: -2, start: 1, threads: 1, cpu: 2 * time.Second}}, false)
	u.sample([]task{{pid: -2, start: 9, threads: 1, cpu: time.Second}}, false) // the number was given anew
	if u.cpu != 4*time.Second || u.threads != 1 {
		t.Errorf("cpu %v, threads %d", u.cpu, u.threads)
	}
	for want, l := range map[string]Limits{
		"":     {CPU: 4 * time.Second, Pids: 1, Memory: 1},
		"cpu:": {CPU: 3 * time.Second},
	} {
		if got := u.over(l); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: %q", l, got)
		}
	}
	u = usage{memory: 3 << 20, threads: 5}
	if got := u.over(Limits{Memory: 1 << 20}); got != "memory: 3 MiB in use, 1 MiB allowed" {
		t.Error(got)
	}
	if got := u.over(Limits{Pids: 4}); got != "pids: 5 tasks, 4 allowed" {
		t.Error(got)
	}
}

func TestReadTask(t *testing.T) {
	// The name of a process may hold what its line is parted by.
	dir := t.TempDir()
	odd := filepath.Join(dir, "a) Z 1 (")
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip("no sleep in PATH")
	}
	if err := os.Symlink(sleep, odd); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(odd, "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	got, err := readTask(cmd.Process.Pid)
	if err != nil || got.ppid != os.Getpid() || !got.alive() || got.threads != 1 || got.start == 0 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := readTask(-1); !isEnded(err) {
		t.Error("read a process that is none")
	}
}

func inotifyEvent(wd int32, mask uint32, name string) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(wd))
	b = binary.NativeEndian.AppendUint32(b, mask)
	b = binary.NativeEndian.AppendUint32(b, 0)
	b = binary.NativeEndian.AppendUint32(b, uint32(len(name)))
	return append(b, name...)
}

func TestWatcherTellsRepeatsOnce(t *testing.T) {
	var got []session.Body
	w := &watcher{paths: map[int32][]string{1: {"/a", "/same"}, 2: {"/b"}}, emit: func(stamp time.Duration, b session.Body) {
		if got = append(got, b); stamp != 7 {
			t.Errorf("%+v is stamped %d", b, stamp)
		}
	}}
	var b []byte
	for range 1000 {
		b = append(b, inotifyEvent(1, unix.IN_OPEN, "")...)
	}
	b = append(b, inotifyEvent(2, unix.IN_ACCESS, "name\x00\x00\x00\x00")...)
	b = append(b, inotifyEvent(1, unix.IN_ACCESS, "")...)
	b = append(b, inotifyEvent(2, unix.IN_IGNORED, "")...)
	b = append(b, inotifyEvent(-1, unix.IN_Q_OVERFLOW, "")...)
	if err := w.take(7, append(b, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	want := []session.Body{
		session.EventLoss{Code: session.GapAccessesLost, Reason: "accesses to canaries came faster than they could be read"},
		session.EventAccess{Path: "/a", Mask: "open|read"}, session.EventAccess{Path: "/same", Mask: "open|read"},
		session.EventAccess{Path: "/b", Mask: "read"},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%+v, want %+v", got[i], want[i])
		}
	}
}

func TestWhatCannotBeWatchedIsLoss(t *testing.T) {
	w, lost := newWatcher([]string{"/no/such/canary", "/"}, nil)
	if w == nil || len(lost) != 1 || !strings.Contains(lost[0], "/no/such/canary is not watched") {
		t.Fatalf("%v", lost)
	}
	if err := unix.Close(w.fd); err != nil {
		t.Error(err)
	}
}

func TestClockIsMonotonic(t *testing.T) {
	before := clock()
	offset := realtimeOffset()
	if d := time.Since(time.Unix(0, int64(offset+before))); d < 0 || d > 10*time.Second {
		t.Errorf("the wall clock is %v off", d)
	}
}
