package profile

import (
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A search upwards asks for one name in each directory on the way. Whoever goes to a file at once,
// leaves a directory out or searches elsewhere did not find it so.
func TestClimbed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what   string
		server string
		sought []string
		want   bool
	}{
		{"each directory", "/home/dana/.cache/uv/notes", []string{"/home/dana/.cache/uv/.env", "/home/dana/.cache/.env"}, true},
		{"the server's own too", "/home/dana/notes", []string{"/home/dana/notes/.env"}, true},
		{"from the working directory", "/srv/notes", []string{"/home/dana/work/project/.env", "/home/dana/work/.env"}, true},
		{"none", "/home/dana/.cache/uv/notes", nil, false},
		{"the server stands beside it", "/home/dana/notes", nil, false},
		{"one is left out", "/home/dana/.cache/uv/notes", []string{"/home/dana/.cache/.env"}, false},
		{"another name", "/home/dana/.cache/uv/notes", []string{"/home/dana/.cache/uv/.netrc", "/home/dana/.cache/.netrc"}, false},
		{"elsewhere", "/home/dana/.cache/uv/notes", []string{"/home/dana/.config/uv/.env", "/home/dana/.config/.env"}, false},
	} {
		for _, op := range []trace.Record{{Op: trace.OpStat, Call: "newfstatat"}, {Op: trace.OpOpen, Call: "openat", Flags: "O_RDONLY"}} {
			b := NewBuilder(Context{Home: "/home/dana", ServerDir: c.server, Workspaces: []string{"/home/dana/work/project"}, Canaries: []canaries.Canary{
				{ID: "dotenv", Kind: "dotenv", Value: "a-value-that-stands-nowhere-else", Path: "/home/dana/.env"},
				{ID: "netrc", Kind: "netrc", Value: "another-value-that-stands-nowhere", Path: "/home/dana/.netrc"},
			}})
			for _, p := range c.sought {
				r := op
				r.Tid, r.Path, r.Ret, r.Err = 1, p, -1, "ENOENT"
				b.Record(&r)
			}
			b.Record(&trace.Record{Op: trace.OpOpen, Tid: 1, Call: "openat", Path: "/home/dana/.env", Flags: "O_RDONLY", Ret: 3})
			for _, e := range b.Profile().Effects {
				if e.Kind == finding.Secret && e.Climbed != c.want {
					t.Errorf("%s, by %s: %+v", c.what, op.Call, e)
				}
			}
		}
	}
}
