package run

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A next start finds the directories that were made, and what was written below one that was
// renamed since under its new name.
func TestWhatLasts(t *testing.T) {
	r := &recorder{}
	for _, rec := range []trace.Record{
		{Op: trace.OpMkdir, Call: "mkdirat", Path: "/home/dana/box"},
		{Op: trace.OpMkdir, Call: "mkdir", Path: "/home/dana/box/tmp"},
		{Op: trace.OpMkdir, Call: "mknod", Path: "/home/dana/pipe"},
		{Op: trace.OpMkdir, Call: "mkdir", Path: "/home/dana/old", Err: "EEXIST", Ret: -1},
		{Op: trace.OpOpen, Path: "/home/dana/box/tmp/a", Flags: "O_CREAT|O_WRONLY"},
		{Op: trace.OpRename, Path: "/home/dana/box", To: "/home/dana/desk"},
		{Op: trace.OpMkdir, Call: "mkdir", Path: "/tmp/other"},
	} {
		r.wrote(&rec)
	}
	_, _ = r.takeWritten()
	got := r.lasting([]string{"/home/dana"}, func(string) bool { return false })
	for _, want := range []string{"/home/dana/box", "/home/dana/desk", "/home/dana/desk/tmp", "/home/dana/desk/tmp/a"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	for _, other := range []string{"/home/dana/pipe", "/home/dana/old", "/tmp/other"} {
		if slices.Contains(got, other) {
			t.Errorf("%s is among %q", other, got)
		}
	}
}
