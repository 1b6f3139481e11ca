package profile

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestRepeats(t *testing.T) {
	const dir = "/home/dana/notes/"
	write := func(name string) trace.Record {
		return trace.Record{Op: trace.OpOpen, Path: dir + name, Flags: "O_WRONLY|O_CREAT"}
	}
	remove := func(name string) trace.Record { return trace.Record{Op: trace.OpUnlink, Path: dir + name} }
	move := func(name, to string) trace.Record {
		return trace.Record{Op: trace.OpRename, Path: dir + name, To: dir + to}
	}
	refused := write("d")
	refused.Ret, refused.Err = -1, "EACCES"
	for _, c := range []struct {
		name          string
		first, second []trace.Record
		want          string
	}{
		{"the same", []trace.Record{write("a")}, []trace.Record{write("a")}, ""},
		{"another", []trace.Record{write("a")}, []trace.Record{write("b")}, "b"},
		{"moved over the same", []trace.Record{write("t1"), move("t1", "a")}, []trace.Record{write("t2"), move("t2", "a")}, ""},
		{"moved elsewhere", []trace.Record{write("t1"), move("t1", "a")}, []trace.Record{write("t2"), move("t2", "b")}, "b"},
		{"taken away again", []trace.Record{write("a")}, []trace.Record{write("a"), write("l"), remove("l")}, ""},
		{"another is deleted", []trace.Record{remove("a")}, []trace.Record{remove("b")}, "b"},
		{"deleted, then nothing is left", []trace.Record{remove("a")}, []trace.Record{{Op: trace.OpUnlink, Path: dir + "a", Ret: -1, Err: "ENOENT"}}, ""},
		{"refused", []trace.Record{write("a")}, []trace.Record{refused}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := builder()
			for i, records := range [][]trace.Record{c.first, c.second} {
				at := time.Duration(i+1) * time.Second
				b.Mark(&session.Mark{Kind: session.MarkCall, Call: i + 1, N: int64(i), Tool: "tool1", Time: at})
				for k, r := range records {
					r.Tid, r.Time = 1, at+time.Duration(k+1)*time.Millisecond
					b.Record(&r)
				}
				b.Mark(&session.Mark{Kind: session.MarkReturn, Call: i + 1, What: "ok", Time: at + 100*time.Millisecond})
			}
			repeats := b.Profile().Repeats()
			if len(repeats) != 1 || repeats[0].First != 1 || repeats[0].Again != 2 {
				t.Fatalf("%+v", repeats)
			}
			var got []string
			for _, e := range repeats[0].More {
				got = append(got, strings.TrimPrefix(e.Target, dir))
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
