package profile

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const notes = "/home/dana/notes.md"

// scene is a run: a start in second 1, and call N from second 10*N to 10*N+1.
type scene struct{ *Builder }

func newScene() scene {
	s := scene{builder()}
	s.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseStart), Time: time.Second})
	s.Record(&trace.Record{Op: trace.OpExec, Tid: 5, Path: "/usr/bin/node", Time: time.Second})
	return s
}

// in has the run stand in a call, which ends with what is known of files then.
func (s scene) in(call int, do func(at time.Duration), known ...session.Body) {
	at := time.Duration(10*call) * time.Second
	s.Mark(&session.Mark{Kind: session.MarkCall, Call: call, Tool: "show", Time: at})
	do(at + time.Second/2)
	for _, k := range known {
		s.event(k, at+time.Second)
	}
	s.Mark(&session.Mark{Kind: session.MarkReturn, Call: call, What: "ok", Time: at + time.Second})
}

func (s scene) event(body session.Body, at time.Duration) {
	s.Mark(&session.Mark{Kind: session.MarkEvent, Time: at, Event: &session.Event{Stamp: at, Body: body}})
}

// open is a record of an open for reading and writing.
func (s scene) open(name string, at time.Duration) { s.openAs(name, "O_RDWR|O_CLOEXEC", at) }

func (s scene) openAs(name, flags string, at time.Duration) {
	s.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: 5, Path: name, Flags: flags, Time: at, Ret: 7})
}

func (s scene) call(op trace.Op, call, name, to string, at time.Duration) {
	s.Record(&trace.Record{Op: op, Call: call, Tid: 5, Path: name, To: to, Time: at})
}

func written(at time.Duration) session.Body { return session.EventLastWrite{Path: notes, At: at} }

func changed(change session.Change, at time.Duration) session.Body {
	return session.EventChanged{Path: notes, Change: change, At: at}
}

// changes are the effects on files, "effect path in call" and what makes them ordinary.
func (s scene) changes() []string {
	var out []string
	for _, e := range s.Profile().Effects {
		if e.Kind == finding.FileWrite || e.Kind == finding.FileDelete || e.Kind == finding.FileMeta {
			out = append(out, fmt.Sprintf("%s %s in %d %s", e.Kind, e.Target, e.Call, e.Noise))
		}
	}
	return out
}

func TestContentsDecide(t *testing.T) {
	const wrote1, quiet1 = "file.write " + notes + " in 1 ", "file.write " + notes + " in 1 unwritten"
	early := written(5 * time.Second)
	for name, c := range map[string]struct {
		run  func(s scene)
		end  []session.Body
		want []string
	}{
		"opened and not written": {func(s scene) { s.in(1, func(at time.Duration) { s.open(notes, at) }, early) }, nil, []string{quiet1}},
		"opened twice and not written": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at); s.open(notes, at) }, early)
		}, nil, []string{quiet1}},
		"opened and written": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, written(10*time.Second+time.Second/2))
		}, nil, []string{wrote1}},
		"written and restored": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, written(10*time.Second+time.Second/2))
		}, []session.Body{changed(session.ChangeTouched, 10*time.Second+time.Second/2)}, []string{wrote1}},
		"written just before, as far as the clocks tell": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, written(10*time.Second+time.Second/2-fileClockSlack))
		}, nil, []string{wrote1}},
		"nobody looked at it": {func(s scene) { s.in(1, func(at time.Duration) { s.open(notes, at) }) }, nil, []string{wrote1}},
		"truncated as it was opened": {func(s scene) {
			s.in(1, func(at time.Duration) { s.openAs(notes, "O_WRONLY|O_TRUNC", at) }, early)
		}, nil, []string{wrote1}},
		"opened, and its mode set": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at); s.call(trace.OpAttr, "chmod", notes, "", at) }, written(10*time.Second+time.Second/2))
		}, nil, []string{wrote1, "file.meta " + notes + " in 1 "}},
		"written through memory": {func(s scene) { s.in(1, func(at time.Duration) { s.open(notes, at) }, early) },
			[]session.Body{changed(session.ChangeWritten, 0)}, []string{wrote1}},
		"kept open, and written later": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, early)
			s.in(2, func(time.Duration) {})
		}, []session.Body{changed(session.ChangeWritten, 20*time.Second)}, []string{wrote1}},
		"read, and written by another call": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, early)
			s.in(2, func(at time.Duration) { s.open(notes, at) }, written(20*time.Second+time.Second/2))
			s.in(3, func(at time.Duration) { s.open(notes, at) }, written(20*time.Second+time.Second/2))
		}, []session.Body{changed(session.ChangeWritten, 20*time.Second+time.Second/2)}, []string{quiet1, "file.write " + notes + " in 2 ", "file.write " + notes + " in 3 unwritten"}},
		"written, and written again by another call": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at) }, written(10*time.Second+time.Second/2))
			s.in(2, func(at time.Duration) { s.open(notes, at) }, written(20*time.Second+time.Second/2))
		}, []session.Body{changed(session.ChangeWritten, 20*time.Second+time.Second/2)}, []string{wrote1, "file.write " + notes + " in 2 "}},
		"some could not be looked at again": {func(s scene) { s.in(1, func(at time.Duration) { s.open(notes, at) }, early) },
			[]session.Body{session.EventLoss{Code: session.GapFilesNotCompared}}, []string{wrote1}},
		"changed by nothing that was seen": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{changed(session.ChangeWritten, 10*time.Second+time.Second/2)}, []string{wrote1}},
		"changed as the call began, by a clock that is late": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{changed(session.ChangeWritten, 10*time.Second-fileClockTick)}, []string{wrote1}},
		"changed before the call": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{changed(session.ChangeWritten, 10*time.Second-2*fileClockTick)}, []string{"file.write " + notes + " in 0 "}},
		"changed by a second name": {func(s scene) {
			s.in(1, func(at time.Duration) {
				s.call(trace.OpLink, "link", notes, "/tmp/x", at)
				s.openAs("/tmp/x", "O_WRONLY", at)
			}, session.EventLastWrite{Path: "/tmp/x", At: 10*time.Second + time.Second/2})
		}, []session.Body{changed(session.ChangeWritten, 10*time.Second+time.Second/2)}, []string{"file.meta /tmp in 1 scratch", "file.write /tmp in 1 scratch", wrote1}},
		"deleted by nothing that was seen": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{changed(session.ChangeDeleted, 0)}, []string{"file.delete " + notes + " in 0 "}},
		"its mode set by nothing that was seen": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{changed(session.ChangeMode, 10*time.Second)}, []string{"file.meta " + notes + " in 1 "}},
		"times alone": {func(s scene) { s.in(1, func(time.Duration) {}) }, []session.Body{changed(session.ChangeTouched, 10*time.Second)}, nil},
		"moved away with its directory": {func(s scene) {
			s.in(1, func(at time.Duration) { s.call(trace.OpRename, "rename", "/home/dana", "/home/erin", at) })
		}, []session.Body{changed(session.ChangeDeleted, 0), session.EventChanged{Path: "/home/erin/notes.md", Change: session.ChangeCreated}},
			[]string{"file.delete /home/dana in 1 ", "file.write /home/erin in 1 "}},
		"opened for writing only to be moved away as its own": {func(s scene) {
			s.in(1, func(at time.Duration) { s.open(notes, at); s.call(trace.OpRename, "rename", notes, "/tmp/x", at) })
		}, []session.Body{changed(session.ChangeDeleted, 0)}, []string{wrote1, "file.write /tmp in 1 scratch", "file.delete " + notes + " in 1 "}},
		"created in a cache": {func(s scene) { s.in(1, func(time.Duration) {}) },
			[]session.Body{session.EventChanged{Path: "/home/dana/.cache/x", Change: session.ChangeCreated, At: 10 * time.Second}}, []string{"file.write /home/dana/.cache in 1 scratch"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene()
			c.run(s)
			s.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseShutdown), Time: 90 * time.Second})
			for _, e := range append(c.end, session.EventCompared{Files: 1}) {
				s.event(e, 91*time.Second)
			}
			if d := cmp.Diff(c.want, s.changes()); d != "" {
				t.Error(d)
			}
		})
	}
}

// Where nobody looked at the files, their times say nothing.
func TestNothingWasCompared(t *testing.T) {
	s := newScene()
	s.in(1, func(at time.Duration) { s.open(notes, at) }, written(5*time.Second))
	if d := cmp.Diff([]string{"file.write " + notes + " in 1 "}, s.changes()); d != "" {
		t.Error(d)
	}
}

// A decoy that is opened for reading and writing is read; that it was written stands
// beside it only where it changed.
func TestADecoyIsOpenedForWriting(t *testing.T) {
	for change, want := range map[session.Change][]string{"": nil, session.ChangeWritten: {"file.write " + key + " in 1 "}, session.ChangeTouched: {"file.write " + key + " in 1 "}} {
		s := newScene()
		s.in(1, func(at time.Duration) { s.open(key, at) })
		if change != "" {
			s.event(session.EventChanged{Path: key, Change: change, At: 10*time.Second + time.Second/2}, 91*time.Second)
		}
		s.event(session.EventCompared{}, 91*time.Second)
		if d := cmp.Diff(want, s.changes()); d != "" {
			t.Errorf("%q: %s", change, d)
		}
	}
}
