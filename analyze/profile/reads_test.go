package profile

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// planting is a builder that knows what stood there before.
func planting(names ...string) *Builder {
	planted := map[string]bool{}
	for _, n := range names {
		planted[n] = true
	}
	return NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Workspaces: []string{"/data"}, Planted: planted,
		Canaries: []canaries.Canary{{ID: "ssh-key", Kind: "ssh", Value: "a-value-that-stands-nowhere-else", Path: "/home/dana/keys.txt"}}})
}

func TestReadsOfDocuments(t *testing.T) {
	for _, c := range []struct {
		what, path, given, flags string
		want                     string
	}{
		{"a document", "/home/dana/Documents/a.txt", "", "O_RDONLY", "/home/dana/Documents/a.txt"},
		{"its directory", "/home/dana/Documents", "", "O_RDONLY|O_DIRECTORY", "/home/dana/Documents"},
		{"HOME itself", "/home/dana", "", "O_RDONLY|O_DIRECTORY", ""},
		{"of a workspace", "/data/b.txt", "", "O_RDONLY", "/data/b.txt"},
		{"a directory of a workspace", "/data", "", "O_RDONLY|O_DIRECTORY", ""},
		{"a hidden file", "/home/dana/.bashrc", "", "O_RDONLY", ""},
		{"in a hidden directory", "/data/sub/.git/HEAD", "", "O_RDONLY", ""},
		{"a decoy", "/home/dana/keys.txt", "", "O_RDONLY", ""},
		{"what nobody planted", "/home/dana/Documents/new.txt", "", "O_RDONLY", ""},
		{"written", "/home/dana/Documents/a.txt", "", "O_WRONLY", ""},
		{"looked at only", "/home/dana/Documents/a.txt", "", "O_PATH", ""},
		{"through a link of a workspace", "/home/dana/Documents/a.txt", "docs/link.txt", "O_RDONLY", "/data/docs/link.txt"},
		{"through a linked directory", "/home/dana/Documents/a.txt", "/data/linked/a.txt", "O_RDONLY", ""},
		{"by a relative name of its own", "/home/dana/Documents/a.txt", "a.txt", "O_RDONLY", "/home/dana/Documents/a.txt"},
	} {
		b := planting("/home/dana/Documents/a.txt", "/data/b.txt", "/home/dana/.bashrc", "/data/sub/.git/HEAD", "/home/dana/keys.txt", "/data/docs/link.txt", "/data/linked")
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "t", What: "tool"})
		b.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: c.path, Given: c.given, Flags: c.flags})
		var got []string
		for _, e := range b.Profile().Reads {
			got = append(got, e.Target)
		}
		if want := slices.DeleteFunc([]string{c.want}, func(s string) bool { return s == "" }); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.what, got, want)
		}
	}
}

// A tool that walks through the workspace in each call is told of in its first ones.
func TestReadsAreBounded(t *testing.T) {
	b := planting("/data/a.txt")
	for n := range 100 {
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: n + 1, Tool: fmt.Sprint("t", n%2), What: "tool", Time: time.Duration(n) * time.Second})
		for range 3 {
			b.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: "/data/a.txt", Flags: "O_RDONLY", Time: time.Duration(n) * time.Second})
		}
	}
	if got := len(b.Profile().Reads); got != 2*maxReadCalls {
		t.Errorf("%d reads", got)
	}
}

// Most opens of a walk are of what was told already, and leave nothing behind.
func TestRepeatedReadsCostNothing(t *testing.T) {
	b := planting("/home/dana/Documents/a.txt")
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "t", What: "tool"})
	r := &trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 1, Path: "/home/dana/Documents/a.txt", Flags: "O_RDONLY"}
	b.Record(r)
	if n := testing.AllocsPerRun(100, func() { b.readsDocument(r, r.Path) }); n > 0 || len(b.out.Reads) != 1 {
		t.Errorf("%v allocations, %d reads", n, len(b.out.Reads))
	}
}
