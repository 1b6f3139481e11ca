package tui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// momentKind groups moments; each has a key that hides and shows it.
type momentKind uint8

const (
	momentCall momentKind = iota
	momentFrame
	momentRecord
	momentFlow
	momentDecoy
	momentOther
	momentKinds
)

var kindNames = [momentKinds]string{"calls", "frames", "system calls", "network", "decoys", "other"}

// kindKeys are the keys of the kinds.
const kindKeys = "cfswdo"

// moment is one thing that happened, on the run's clock.
type moment struct {
	time time.Duration
	kind momentKind
	// source and seq are those of a piece of evidence for it.
	source string
	seq    uint64
	call   int
	text   string // not escaped
	bad    bool
}

// maxMoments bounds the moments of a timeline.
const maxMoments = 200_000

// moments is a run's timeline.
type moments struct {
	dir string
	// base is the run's clock at its beginning.
	base time.Duration
	all  []moment
	more int
	// damaged counts the lines of the log that could not be read.
	damaged int
	hidden  [momentKinds]bool
	// visible are the positions of those that are shown.
	visible []int
	err     error
	// took is how long it took to read.
	took time.Duration
}

type momentsMsg struct {
	of      *runView
	moments *moments
	// looked says that the run was looked at again for it, and is to be once more.
	looked bool
}

func (v *runView) readMoments(dir string) tea.Cmd {
	ctx, path := v.ctx, v.path
	return func() tea.Msg { return momentsMsg{of: v, moments: readMoments(ctx, path, dir)} }
}

// readMoments reads both files of a run's log.
func readMoments(ctx context.Context, path, below string) *moments {
	m, began := &moments{dir: below}, time.Now()
	m.err = m.read(ctx, filepath.Join(path, filepath.FromSlash(below)))
	slices.SortStableFunc(m.all, func(a, b moment) int { return int(a.time - b.time) })
	m.show()
	m.took = time.Since(began)
	return m
}

func (m *moments) read(ctx context.Context, path string) error {
	root, err := os.OpenRoot(path)
	if err != nil {
		return err
	}
	defer root.Close()
	log, err := session.Open(root)
	if err != nil {
		return err
	}
	m.base = log.Header.Clock0
	call := 0
	flows := map[uint64]string{}
	for line, err := range log.Trace() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			m.damaged++
			continue
		}
		if line.Mark != nil && line.Mark.Kind == session.MarkCall {
			call = line.Mark.Call
		}
		at, ok := momentOf(&line, flows)
		if ok && len(m.all) < maxMoments {
			at.call = call
			m.all = append(m.all, at)
		} else if ok {
			m.more++
		}
		if line.Mark != nil && line.Mark.Kind == session.MarkReturn {
			call = 0
		}
	}
	return nil
}

// momentOf is what a line of the trace shows, if anything. flows remembers where flows lead.
func momentOf(l *session.Line, flows map[uint64]string) (moment, bool) {
	switch {
	case l.Record != nil:
		r := l.Record
		return moment{time: r.Time, kind: momentRecord, source: "record", seq: r.Seq, text: recordText(r), bad: r.Err != ""}, true
	case l.Flow != nil:
		return flowMoment(l.Flow, flows)
	case l.Mark != nil:
		return markMoment(l.Mark)
	}
	return moment{}, false
}

func recordText(r *trace.Record) string {
	words := []string{r.Call}
	switch {
	case len(r.Argv) > 0:
		words = append(words, strings.Join(r.Argv, " "))
	case r.Addr != nil:
		words = append(words, fmt.Sprintf("%s:%d", r.Addr.Host, r.Addr.Port))
	case r.Path != "":
		words = append(words, r.Path)
	}
	if r.To != "" {
		words = append(words, "to "+r.To)
	}
	if r.Flags != "" {
		words = append(words, r.Flags)
	}
	if r.Err != "" {
		words = append(words, r.Err)
	}
	return cut(strings.Join(words, " "), 300)
}

// cut bounds a text in bytes.
func cut(s string, n int) string { return s[:min(len(s), n)] }

func flowMoment(f *trace.Flow, flows map[uint64]string) (moment, bool) {
	m := moment{time: f.Stamp, kind: momentFlow, source: "flow", seq: f.Flow}
	to, known := flows[f.Flow]
	if f.Dest.IsValid() {
		host := f.Host
		if host == "" {
			host = f.Dest.Addr().String()
		}
		to = fmt.Sprintf("%s %s:%d", f.Proto, host, f.Dest.Port())
		if !known && len(flows) < maxMoments {
			flows[f.Flow] = to
		}
	}
	switch f.Type {
	case trace.FlowData, trace.FlowPlain:
		return m, false
	case trace.FlowQuery:
		m.text = "looks up " + f.Host + " " + f.Method
	case trace.FlowRequest:
		m.text = "requests " + f.Method + " " + f.Authority + f.Path
	case trace.FlowHit:
		m.kind, m.bad = momentDecoy, true
		m.text = "decoy " + f.Canary + " is sent to " + to
	case trace.FlowRefused:
		m.bad, m.text = true, "refused "+to
	case trace.FlowLoss:
		m.bad, m.text = true, "not seen: "+f.Error
	case trace.FlowClose:
		m.text = fmt.Sprintf("closed %s, %d bytes sent, %d received", to, f.Up, f.Down)
	default:
		m.text = f.Type + " " + to
	}
	m.text = cut(m.text, 300)
	return m, true
}

func markMoment(k *session.Mark) (moment, bool) {
	m := moment{time: k.Time, kind: momentOther, source: "event"}
	switch k.Kind {
	case session.MarkPhase:
		m.text = "phase " + k.Phase
	case session.MarkCall:
		m.kind, m.text = momentCall, fmt.Sprintf("call %d: %s %s", k.Call, k.What, k.Tool)
	case session.MarkReturn:
		m.kind, m.text, m.bad = momentCall, fmt.Sprintf("call %d: %s %s", k.Call, k.What, k.Tool), session.Outcome(k.What) != session.OutcomeOK
	case session.MarkFrame:
		m.kind, m.source, m.seq, m.text = momentFrame, "frame", k.Seq, fmt.Sprintf("frame %d", k.Seq)
	case session.MarkBadLine:
		m.kind, m.source, m.seq, m.text, m.bad = momentFrame, "frame", k.Seq, "no JSON: "+k.Text, true
	case session.MarkStderr:
		m.text = "stderr: " + k.Text + string(k.Data)
	case session.MarkInconclusive:
		m.text, m.bad = "not checked: "+k.Text, true
	case session.MarkLoss:
		m.text, m.bad = fmt.Sprintf("lost %d %s: %s", k.N, k.What, k.Text), true
	case session.MarkEvent:
		if k.Event == nil {
			return m, false
		}
		return eventMoment(m, k.Event)
	default:
		return m, false
	}
	m.text = cut(m.text, 300)
	return m, true
}

func eventMoment(m moment, e *session.Event) (moment, bool) {
	switch b := e.Body.(type) {
	case session.EventAccess:
		m.kind, m.text = momentDecoy, "decoy touched ("+b.Mask+"): "+b.Path
	case session.EventFound:
		m.kind, m.bad, m.text = momentDecoy, true, "decoy "+b.Canary+" is in the written file "+b.Path
	case session.EventRefused:
		m.bad, m.text = true, fmt.Sprintf("refused %s %s (%s)", b.Call, b.Args, b.Err)
	case session.EventExit:
		m.text = fmt.Sprintf("the server ended with status %d %s", b.Code, b.Signal)
	case session.EventChanged:
		m.text = fmt.Sprintf("found %s: %s", b.Change, b.Path)
		if b.At > 0 {
			m.time = b.At
		}
	case session.EventStarted:
		m.text = "the server's program started"
	case session.EventLimit:
		m.bad, m.text = true, "limit: "+b.Reason
	case session.EventTracerDied:
		m.bad, m.text = true, "the tracer died: "+b.Reason
	case session.EventLoss:
		m.bad, m.text = true, "not seen: "+b.Reason
	default:
		return m, false
	}
	m.text = cut(m.text, 300)
	return m, true
}

// show lists what is not hidden.
func (m *moments) show() {
	m.visible = m.visible[:0]
	for i := range m.all {
		if !m.hidden[m.all[i].kind] {
			m.visible = append(m.visible, i)
		}
	}
}

// shown says in words what is hidden, and what was left out.
func (m *moments) shown() string {
	var hidden []string
	for k, h := range m.hidden {
		if h {
			hidden = append(hidden, kindNames[k])
		}
	}
	out := ""
	if m.dir != "." {
		out = "of " + clean(m.dir, 60) + "  "
	}
	if len(hidden) > 0 {
		out += "hidden: " + strings.Join(hidden, ", ")
	}
	if m.damaged > 0 {
		out += fmt.Sprintf("  %s could not be read", count(m.damaged, "line"))
	}
	if m.more > 0 {
		out += fmt.Sprintf("  %s more moments are not shown", thousands(m.more))
	}
	return out
}

func (v *runView) toggleKind(k string) {
	i := strings.Index(kindKeys, k)
	if i < 0 || len(k) != 1 || v.moments == nil {
		return
	}
	l, at := &v.tabs[tabTimeline].list, 0
	if l.cursor < len(v.moments.visible) {
		at = v.moments.visible[l.cursor]
	}
	v.moments.hidden[i] = !v.moments.hidden[i]
	v.moments.show()
	v.showMoments()
	n, _ := slices.BinarySearch(v.moments.visible, at)
	l.set(n)
}

// showMoments fills the timeline, and goes to the moment that is wanted.
func (v *runView) showMoments() {
	m := v.moments
	if m.err != nil {
		v.set(tabTimeline, []item{said(v.bad(clean(m.err.Error(), 400)))})
		return
	}
	items := make([]item, len(m.visible))
	for i, at := range m.visible {
		one := &m.all[at]
		items[i] = item{line: func(int) string { return v.momentLine(one) }, open: func() tea.Cmd { return v.openMoment(one) }}
	}
	v.set(tabTimeline, items)
	if v.wanted != nil {
		v.goTo(v.wanted)
		v.wanted = nil
	}
}

func (v *runView) momentLine(m *moment) string {
	call := ""
	if m.call > 0 {
		call = fmt.Sprintf("call %d", m.call)
	}
	word := strings.TrimSuffix(kindNames[m.kind], "s")
	word = pad(word, 11)
	if m.bad {
		word = v.bad(word)
	} else if m.kind == momentCall {
		word = v.bold(word)
	} else {
		word = v.accent(word)
	}
	return left(seconds(m.time-v.moments.base), 10) + "  " + pad(call, 9) + " " + word + " " + clean(m.text, 600)
}

func (v *runView) openMoment(m *moment) tea.Cmd {
	if m.kind == momentFrame {
		return v.openSession(v.moments.dir, m.seq)
	}
	return v.push(newText(v.env, fmt.Sprintf("%s %d", m.source, m.seq), m.text))
}

// jump shows the moment of a piece of evidence: its frame, or its place on the timeline.
func (v *runView) jump(msg jumpMsg) tea.Cmd {
	e := &msg.e
	if v.reportOnly || v.data == nil {
		v.note = "a report alone has no log: open the run's directory"
		return nil
	}
	dir := runOf(e)
	if e.Source == "frame" && e.Seq > 0 {
		return v.openSession(dir, e.Seq)
	}
	if e.Location != nil {
		v.note = "this is a place in the source: " + place(e)
		return nil
	}
	v.at = tabTimeline
	v.wanted = &moment{time: e.Time, source: e.Source, seq: e.Seq}
	v.later(popMsg{})
	if v.moments == nil || v.moments.dir != dir {
		v.moments = nil
		v.set(tabTimeline, []item{said("reading the log…")})
		return v.readMoments(dir)
	}
	v.goTo(v.wanted)
	v.wanted = nil
	return nil
}

// goTo selects the moment of a piece of evidence, else the one nearest in time.
func (v *runView) goTo(want *moment) {
	best, bestGap := 0, time.Duration(1<<62)
	for i, at := range v.moments.visible {
		m := &v.moments.all[at]
		gap := (m.time - want.time).Abs()
		// Evidence is exact where its own number is there.
		if want.seq > 0 && m.source == want.source && m.seq == want.seq {
			gap -= 1 << 40
		}
		if gap < bestGap {
			best, bestGap = i, gap
		}
	}
	v.tabs[tabTimeline].list.set(best)
}

func seconds(t time.Duration) string { return fmt.Sprintf("%.3f", t.Seconds()) }
