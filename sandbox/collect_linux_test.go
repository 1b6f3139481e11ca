//go:build linux && e2e

package sandbox_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TestCollect: what stands in files when they are asked for comes, and no more,
// however many a search has looked into before.
func TestCollect(t *testing.T) {
	kinds(t, func(t *testing.T, b sandboxtest.Bare, traceSet string) {
		dir := writable(t)
		s := spec("sh", "-c", "cd "+dir+" && for n in $(seq 120); do echo first >$n; done; head -c 300000 /dev/zero >big; echo made; read x; echo second >1; echo late >late; echo again; cat")
		s.TraceSet = traceSet
		a := start(t, b, s)
		a.sees(t, "the files", func() bool { return strings.Contains(a.Out(), "made") })
		var paths []string
		for n := range 120 {
			paths = append(paths, fmt.Sprintf("%s/%d", dir, n+1))
		}
		for range 2 {
			if left, err := a.Search(bounded(t), paths, false); err != nil || left != 0 {
				t.Fatal(left, err)
			}
		}
		if err := a.Stdin([]byte("go on\n")); err != nil {
			t.Fatal(err)
		}
		a.sees(t, "the late file", func() bool { return strings.Contains(a.Out(), "again") })
		for range 2 {
			// What is gone does not count: a server renames more files than it leaves.
			asked := []string{dir + "/late", dir + "/1", dir + "/absent"}
			for n := range 200 {
				asked = append([]string{fmt.Sprintf("%s/gone-%d", dir, n)}, asked...)
			}
			files, _, err := a.Collect(bounded(t), asked)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, strings.TrimPrefix(f.Path, dir)+" "+string(f.Data))
			}
			if want := []string{"/late late\n", "/1 second\n"}; !slices.Equal(got, want) {
				t.Errorf("collected %q, want %q", got, want)
			}
			if big, _, err := a.Collect(bounded(t), []string{dir + "/big"}); err != nil || len(big) != 1 || len(big[0].Data) != 300000 {
				t.Errorf("a file of several parts: %d, %v", len(big), err)
			}
			if lost := sandboxtest.EventsOf[session.EventLoss](a.Recorder); len(lost) > 0 {
				t.Errorf("lost %+v", lost)
			}
		}
	})
}

// TestAwait: what a target left that ended by itself can still be asked for, until it is stopped.
func TestAwait(t *testing.T) {
	sandboxtest.Need(t, "userns")
	dir := writable(t)
	s := spec("sh", "-c", "echo left >"+dir+"/a; exit 3")
	s.Await = true
	a := start(t, sandboxtest.Bare{SingleUID: true}, s)
	a.sees(t, "the end", func() bool { return len(sandboxtest.EventsOf[session.EventExit](a.Recorder)) > 0 })
	files, _, err := a.Collect(bounded(t), []string{dir + "/a"})
	if err != nil || len(files) != 1 || string(files[0].Data) != "left\n" {
		t.Errorf("%+v, %v", files, err)
	}
	if err := a.Stop(bounded(t), time.Second); err != nil {
		t.Error(err)
	}
}
