package tui

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// looks is a runView that is told what it reads, and never waits to look again.
type looks struct{ *runView }

func (v looks) takes(cmd tea.Cmd) {
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			v.takes(c)
		}
	default:
		v.update(msg)
	}
}

// text is what a tab holds.
func (v looks) text(i int) string {
	var b strings.Builder
	for _, it := range v.tabs[i].items {
		b.WriteString(plainText(it.line(plainWidth)) + "\n")
	}
	return b.String()
}

// The view of a run that goes on takes in its log as it grows, and its report once it is there.
func TestARunIsFollowed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(fixtures(t), "leaky")
	read := func(name string) []byte {
		data, err := os.ReadFile(filepath.Join(path, name))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(path, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	results, log := map[string][]byte{report.FileJSON: read(report.FileJSON), session.IndexFile: read(session.IndexFile)}, read(session.TraceFile)
	for name := range results {
		if err := os.Remove(filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	write(session.TraceFile, bytes.Join(lines[:len(lines)/2], nil))

	v := looks{newRun(env{ctx: context.Background(), follow: true, version: "test", waiting: new([]tea.Msg)}, path)}
	v.resize(100, 20)
	v.takes(v.start())
	v.takes(v.show(tabTimeline))
	if v.data.res != nil || len(v.moments.all) == 0 {
		t.Fatalf("the run is over: %+v", v.data)
	}
	v.list().set(v.list().n - 1)
	v.key("f") // hides frames
	before := v.list().n

	write(session.TraceFile, log)
	v.takes(v.update(v.look()))
	if l := v.list(); l.n <= before || l.cursor != l.n-1 || !v.moments.hidden[momentFrame] {
		t.Errorf("%d moments, then %d; the cursor is at %d, frames are hidden: %t", before, l.n, l.cursor, v.moments.hidden[momentFrame])
	}
	for name, data := range results {
		write(name, data)
	}
	v.takes(v.update(v.look()))
	if found := v.text(tabFindings); !strings.Contains(found, "CM103") || !strings.Contains(v.text(tabOverview), "findings") || v.at != tabTimeline {
		t.Errorf("tab %d: %s", v.at, found)
	}
	if unchanged := v.update(v.look()); unchanged == nil {
		t.Error("it is not looked at again")
	}
	if gone := newReport(v.env, path); gone.lookLater(0) != nil {
		t.Error("a report alone is followed")
	}
}
