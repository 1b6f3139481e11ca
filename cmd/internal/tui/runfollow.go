package tui

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// runSigns tell whether files of a run have changed: those that say what came of it, and its log.
type runSigns struct{ result, log string }

func signsOf(path string) runSigns {
	sign := func(names ...string) (out string) {
		for _, name := range names {
			if info, err := os.Lstat(filepath.Join(path, name)); err == nil {
				out += fmt.Sprintf("%s %d %d\n", name, info.Size(), info.ModTime().UnixNano())
			}
		}
		return out
	}
	return runSigns{sign(report.FileJSON, session.IndexFile), sign(session.TraceFile)}
}

// runLookMsg brings what a run's files are now.
type runLookMsg struct {
	of   *runView
	seen runSigns
}

// lookLater looks at a run again that may go on: soon, and later where reading it takes long.
func (v *runView) lookLater(took time.Duration) tea.Cmd {
	if !v.follow || v.reportOnly {
		return nil
	}
	return tea.Tick(max(lookAgain, lookTimes*took), func(time.Time) tea.Msg { return v.look() })
}

func (v *runView) look() tea.Msg { return runLookMsg{v, signsOf(v.path)} }

// looked reads again what has changed. A timeline that nobody opened is read once somebody does.
func (v *runView) looked(msg runLookMsg) tea.Cmd {
	was := v.seen
	v.seen.log = msg.seen.log
	switch {
	case msg.seen.result != was.result && v.moments != nil:
		return tea.Batch(v.start(), v.readMoments(v.moments.dir))
	case msg.seen.result != was.result:
		return v.start()
	case msg.seen.log != was.log && v.moments != nil:
		read := v.readMoments(v.moments.dir)
		return func() tea.Msg {
			m := read().(momentsMsg)
			m.looked = true
			return m
		}
	}
	return v.lookLater(0)
}

// tookMoments takes a timeline in the place of one that was read before: what is hidden stays so, and a cursor at
// the end stays there.
func (v *runView) tookMoments(m *moments) {
	l := &v.tabs[tabTimeline].list
	if old := v.moments; old != nil && old.dir == m.dir {
		m.hidden = old.hidden
		m.show()
		l.stick = l.n > 1 && l.cursor == l.n-1
	}
	v.moments = m
}
