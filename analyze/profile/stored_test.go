package profile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A file that is written and left is kept with the calls that wrote it and what they were given of it.
func TestStored(t *testing.T) {
	const create, text = "O_WRONLY|O_CREAT", "the lighthouse\n"
	for name, c := range map[string]struct {
		run  func(s scene, at time.Duration)
		end  session.Body
		want string
	}{
		"written":             {func(s scene, at time.Duration) { s.openAs(notes, create, at) }, session.EventText{Path: notes, Now: text}, notes + " by 1 holds lighthouse"},
		"in base 64":          {func(s scene, at time.Duration) { s.openAs(notes, create, at) }, session.EventText{Path: notes, Now: "bGlnaHRob3VzZQ=="}, notes + " by 1 holds lighthouse"},
		"in a cache":          {func(s scene, at time.Duration) { s.openAs("/tmp/x", create, at) }, session.EventText{Path: "/tmp/x", Now: text}, "/tmp/x by 1 holds lighthouse"},
		"other words":         {func(s scene, at time.Duration) { s.openAs(notes, create, at) }, session.EventText{Path: notes, Now: "x"}, notes + " by 1 holds "},
		"there before":        {func(s scene, at time.Duration) { s.openAs(notes, create, at) }, session.EventText{Path: notes, Was: text, Now: text + "x"}, notes + " by 1 holds "},
		"read only":           {func(s scene, at time.Duration) { s.openAs(notes, "O_RDONLY", at) }, session.EventText{Path: notes, Now: text}, ""},
		"a directory is none": {func(s scene, at time.Duration) { s.call(trace.OpMkdir, "mkdir", "/tmp/d", "", at) }, session.EventCompared{}, ""},
		"taken away": {func(s scene, at time.Duration) {
			s.openAs(notes, create, at)
			s.call(trace.OpUnlink, "unlink", notes, "", at)
		}, session.EventCompared{}, ""},
		"moved to its place": {func(s scene, at time.Duration) {
			s.openAs(notes+".tmp", create, at)
			s.call(trace.OpRename, "rename", notes+".tmp", notes, at)
		}, session.EventText{Path: notes, Now: text}, notes + " by 1 1 holds lighthouse"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			s.in(1, func(at time.Duration) {
				s.hears([]byte(`{"method":"tools/call","params":{"name":"show","arguments":{"text":"about the lighthouse"}}}`))
				c.run(s, at)
			})
			s.event(c.end, time.Minute)
			var got []string
			for _, f := range s.Profile().Stored {
				var by, held []string
				for _, w := range f.By {
					by = append(by, fmt.Sprint(w.Call))
				}
				for _, h := range f.Held {
					held = append(held, h.Word)
				}
				got = append(got, f.Path+" by "+strings.Join(by, " ")+" holds "+strings.Join(held, " "))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What a call spells by the names of directories and links is counted.
func TestSpelled(t *testing.T) {
	s := newScene()
	s.in(1, func(at time.Duration) {
		s.call(trace.OpMkdir, "mkdir", "/tmp/d", "", at)
		s.call(trace.OpMkdir, "mkdir", "/tmp/d/6c69676874", "", at)
	})
	got := s.Profile().Spelled
	if len(got) != 1 || got[0].Call != 1 || got[0].Path != "/tmp/d/6c69676874" || got[0].Bytes != len("d")+len("6c69676874") {
		t.Errorf("%+v", got)
	}
}
