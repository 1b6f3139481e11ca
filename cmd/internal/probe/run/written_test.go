package run

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Whatever may hold what was written is searched, under the name that it has by then.
func TestWhatIsWrittenIsSearched(t *testing.T) {
	for _, c := range []struct {
		name  string
		rec   trace.Record
		want  []string
		wrote bool
	}{
		{"opened for reading", trace.Record{Op: trace.OpOpen, Path: "/a", Flags: "O_RDONLY"}, nil, false},
		{"refused", trace.Record{Op: trace.OpOpen, Path: "/a", Flags: "O_RDWR", Err: "EACCES"}, nil, false},
		{"opened for writing", trace.Record{Op: trace.OpOpen, Path: "/a\xff", Flags: "O_WRONLY|O_CREAT"}, []string{"/a\xff"}, true},
		{"shared memory", trace.Record{Op: trace.OpOpen, Path: "/dev/shm/a", Flags: "O_RDWR"}, []string{"/dev/shm/a"}, true},
		{"a message queue", trace.Record{Op: trace.OpOpen, Path: "/dev/mqueue/a", Flags: "O_RDWR"}, []string{"/dev/mqueue/a"}, true},
		{"a device", trace.Record{Op: trace.OpOpen, Path: "/dev/null", Flags: "O_RDWR"}, nil, false},
		{"a pipe", trace.Record{Op: trace.OpOpen, Path: "pipe:[7]", Flags: "O_WRONLY"}, nil, false},
		{"moved", trace.Record{Op: trace.OpRename, Path: "/a", To: "/b"}, []string{"/b"}, true},
		{"exchanged", trace.Record{Op: trace.OpRename, Path: "/a", To: "/b", Flags: "RENAME_EXCHANGE"}, []string{"/a", "/b"}, true},
		{"linked", trace.Record{Op: trace.OpLink, Call: "linkat", Path: "/a", To: "/b"}, []string{"/b"}, true},
		{"a link's text", trace.Record{Op: trace.OpLink, Call: "symlink", Path: "/a", To: "/b"}, []string{"/b"}, true},
		{"an attribute", trace.Record{Op: trace.OpAttr, Call: "fsetxattr", Path: "/a", Flags: "user.x"}, []string{"/a"}, true},
		{"a mode", trace.Record{Op: trace.OpAttr, Call: "fchmod", Path: "/a"}, nil, false},
		{"memory without a name", trace.Record{Op: trace.OpMemfd, Path: "/memfd:a"}, nil, true},
	} {
		r := &recorder{}
		r.wrote(&c.rec)
		names, wrote := r.takeWritten()
		if !slices.Equal(names, c.want) || wrote != c.wrote || r.unnamed != 0 {
			t.Errorf("%s: %q, %t; want %q, %t", c.name, names, wrote, c.want, c.wrote)
		}
		if again, still := r.takeWritten(); len(again) != 0 || still != wrote {
			t.Errorf("%s: %q again, %t", c.name, again, still)
		}
	}
	r := &recorder{}
	if r.wrote(&trace.Record{Op: trace.OpOpen, Path: "a", Flags: "O_RDWR"}); r.unnamed != 1 {
		t.Error("a file of an unknown directory is passed over")
	}
}
