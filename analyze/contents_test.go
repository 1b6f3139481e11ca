package analyze_test

import (
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What files tell of themselves is judged beside the system calls.
func TestFilesAreJudgedByTheirContents(t *testing.T) {
	const diary = home + "/Documents/diary.md"
	const wide = `{"name":"do","description":"Does the work.","inputSchema":{"type":"object"}}`
	for name, c := range map[string]struct {
		tool, call string
		opens      bool // the call opens the file for reading and writing
		events     []session.Body
		findings   string
		unseen     string
	}{
		"opened and as it was": {analyzetest.Note, "format_note", true, []session.Body{session.EventCompared{Files: 9}}, "", ""},
		"opened and written": {analyzetest.Note, "format_note", true, []session.Body{
			session.EventChanged{Path: diary, Change: session.ChangeWritten}, session.EventCompared{}}, "CM201 high", ""},
		"nothing was compared": {analyzetest.Note, "format_note", true, nil, "CM201 high", ""},
		"changed by nothing that was seen": {analyzetest.Note, "format_note", false, []session.Body{
			session.EventChanged{Path: diary, Change: session.ChangeWritten}, session.EventCompared{}}, "CM215 high", ""},
		"made by nothing that was seen": {analyzetest.Note, "format_note", false, []session.Body{
			session.EventChanged{Path: home + "/new", Change: session.ChangeCreated}, session.EventCompared{}}, "CM215 medium", ""},
		"its own state": {wide, "do", false, []session.Body{
			session.EventChanged{Path: home + "/.notes.json", Change: session.ChangeCreated}, session.EventCompared{}}, "", ""},
		"too much to be compared": {analyzetest.Note, "format_note", false, []session.Body{session.EventCompared{Reason: "there is more"}}, "",
			"changes without a system call of files that were not compared: there is more"},
	} {
		t.Run(name, func(t *testing.T) {
			l := analyzetest.New(t, func(h *session.Header) { h.Planted = []string{diary} })
			l.Begin(c.tool)
			l.Call(c.call, `{}`, func() {
				if c.opens {
					l.Open(diary, "O_RDWR|O_CLOEXEC", "")
					l.Event(session.EventLastWrite{Path: diary, At: time.Millisecond})
				}
			}, nil)
			l.End()
			for _, e := range c.events {
				l.Event(e)
			}
			res := l.Judge(analyze.Options{})
			if got := found(res); got != c.findings || len(res.Inconclusive) > 0 {
				t.Errorf("findings %q, want %q; %q", got, c.findings, res.Inconclusive)
			}
			if got := strings.Join(res.Coverage.Unseen, "; "); got != c.unseen {
				t.Errorf("unseen %q, want %q", got, c.unseen)
			}
		})
	}
}

// What stood there and could not be looked at again is a gap.
func TestFilesThatWereNotCompared(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note)
	l.End()
	l.Event(session.EventLoss{Code: session.GapFilesNotCompared, N: 2, Reason: "closed"})
	l.Event(session.EventCompared{})
	res := l.Judge(analyze.Options{})
	if len(res.Gaps) == 0 || res.Gaps[0].Code != session.GapFilesNotCompared || res.Verdict != analyze.Inconclusive {
		t.Errorf("%s %+v", res.Verdict, res.Gaps)
	}
}
