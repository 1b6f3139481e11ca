package tui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
)

// maxEntries bounds the entries of a directory that are listed.
const maxEntries = 5000

// summary is a run or a session in one line.
type summary struct {
	name, path string
	kind       kind
	changed    time.Time
	// ready says that the rest was read; err says why it could not be.
	ready bool
	err   error
	// stale says that it has changed since it was read, which was at readAt and took so long.
	stale         bool
	readAt        time.Time
	took          time.Duration
	server        string
	verdict       analyze.Verdict
	findings      int
	calls, failed int
	rate          float64 // frames a second, 0 where that is not known
}

// directory is a directory of runs and sessions, the newest first.
type directory struct {
	env
	list
	path    string
	entries []summary
	more    int
	err     error
	read    bool
	width   int
	// reading is the path of the entry that is being read, "" for none.
	reading string
}

// The distances at which a directory and what grows in it are looked at again: so long at
// least, and so many times as long as it took.
const (
	lookAgain = time.Second
	lookTimes = 20
)

type (
	entriesMsg struct {
		of      *directory
		entries []summary
		more    int
		err     error
		took    time.Duration
	}
	summaryMsg struct {
		of *directory
		summary
	}
	lookMsg struct{ of *directory }
)

func newDirectory(e env, path string) *directory { return &directory{env: e, path: path} }

func (d *directory) start() tea.Cmd {
	return func() tea.Msg {
		began := time.Now()
		entries, more, err := listDirectory(d.path)
		return entriesMsg{d, entries, more, err, time.Since(began)}
	}
}

// listed takes in what is there now. What was read of an entry stays, and so does the cursor on
// its entry.
func (d *directory) listed(msg entriesMsg) tea.Cmd {
	if d.err = msg.err; msg.err == nil || !d.read {
		known := map[string]*summary{}
		for i := range d.entries {
			known[d.entries[i].path] = &d.entries[i]
		}
		for i := range msg.entries {
			e := &msg.entries[i]
			if old := known[e.path]; old != nil && old.kind == e.kind && old.ready {
				changed := e.changed
				*e = *old
				e.stale = e.stale || !changed.Equal(old.changed)
				e.changed = changed
			}
		}
		at := ""
		if d.cursor < len(d.entries) {
			at = d.entries[d.cursor].path
		}
		d.entries, d.more, d.read = msg.entries, msg.more, true
		d.grow(len(d.entries))
		if i := slices.IndexFunc(d.entries, func(e summary) bool { return e.path == at }); i >= 0 {
			d.set(i)
		}
	}
	if !d.follow {
		return d.next()
	}
	return tea.Batch(d.next(), tea.Tick(max(lookAgain, lookTimes*msg.took), func(time.Time) tea.Msg { return lookMsg{d} }))
}

// listDirectory lists the runs and the logs of a directory.
func listDirectory(path string) (out []summary, more int, err error) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, 0, err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s := summary{name: e.Name(), path: filepath.Join(path, e.Name())}
		info, err := e.Info()
		if err != nil || !e.IsDir() && !info.Mode().IsRegular() {
			continue
		}
		s.changed = info.ModTime()
		s.kind, err = kindOf(s.path)
		if err != nil || s.kind == kindLog && filepath.Ext(e.Name()) != ".jsonl" || s.kind == kindReport {
			continue
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b summary) int {
		return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.name, b.name))
	})
	if len(out) > maxEntries {
		more = len(out) - maxEntries
		out = out[:maxEntries]
	}
	return out, more, nil
}

// summarize reads what a line says of an entry.
func summarize(ctx context.Context, s summary, version string) summary {
	began := time.Now()
	s = summary{name: s.name, path: s.path, kind: s.kind, changed: s.changed}
	s.read(ctx, version)
	s.ready, s.readAt, s.took = true, time.Now(), time.Since(began)
	return s
}

func (s *summary) read(ctx context.Context, version string) {
	switch s.kind {
	case kindRun:
		data, err := readRun(s.path, version)
		if s.err = err; err == nil && data.res != nil {
			s.server = clean(strings.TrimSpace(data.res.Server.Name+" "+data.res.Server.Version), 100)
			s.verdict, s.findings = data.res.Verdict, len(data.res.All())
			s.calls, s.failed = errorsOf(data.res)
		}
	case kindLog:
		file, x, err := frames.Open(s.path)
		if s.err = err; err != nil {
			return
		}
		defer file.Close()
		x.Build(ctx, false)
		st := x.State()
		s.server, s.calls, s.failed, s.err = st.Server, st.Calls, st.Failed, st.Err
		if took := st.Last.Sub(st.First).Seconds(); took > 0 {
			s.rate = float64(st.Frames) / took
		}
	}
}

// next reads the first entry that was not read, or has changed since.
func (d *directory) next() tea.Cmd {
	if d.reading != "" || d.ctx.Err() != nil {
		return nil
	}
	i := slices.IndexFunc(d.entries, func(s summary) bool {
		return s.kind != kindDir && (!s.ready || s.stale && time.Since(s.readAt) > lookTimes*s.took)
	})
	if i < 0 {
		return nil
	}
	s, ctx := d.entries[i], d.ctx
	d.reading = s.path
	return func() tea.Msg { return summaryMsg{d, summarize(ctx, s, d.version)} }
}

func (d *directory) resize(w, h int) {
	d.width = w
	d.list.resize(h)
}

func (d *directory) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case entriesMsg:
		if msg.of == d {
			return d.listed(msg)
		}
	case lookMsg:
		if msg.of == d && d.ctx.Err() == nil {
			return d.start()
		}
	case summaryMsg:
		if msg.of == d {
			d.reading = ""
			if i := slices.IndexFunc(d.entries, func(e summary) bool { return e.path == msg.path }); i >= 0 {
				// It may have changed again meanwhile.
				msg.stale = !msg.changed.Equal(d.entries[i].changed)
				msg.changed = d.entries[i].changed
				d.entries[i] = msg.summary
			}
			return d.next()
		}
	case tea.MouseWheelMsg:
		d.wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		if d.click(msg.Y - rowsAbove) {
			return d.open()
		}
	case openMsg:
		return d.open()
	case tea.KeyPressMsg:
		d.key(msg.String())
	}
	return nil
}

func (d *directory) open() tea.Cmd {
	if d.cursor >= len(d.entries) {
		return nil
	}
	e := &d.entries[d.cursor]
	switch e.kind {
	case kindRun:
		return d.push(newRun(d.env, e.path))
	case kindDir:
		return d.push(newDirectory(d.env, e.path))
	}
	file, x, err := frames.Open(e.path)
	if err != nil {
		e.ready, e.err = true, err
		return nil
	}
	return d.push(newStream(d.env, clean(e.name, 60), file, x))
}

func (d *directory) title() string {
	name, err := filepath.Abs(d.path)
	if err != nil {
		name = d.path
	}
	return clean(filepath.Base(name), 200)
}

func (d *directory) head() string {
	w := d.nameWidth()
	return pad("name", w) + " " + pad("server", w) + " " + pad("verdict", 12) + " " + left("findings", 8) + " " + left("calls", 7) + " " + left("errors", 6) + " " + left("frames/s", 9)
}

func (d *directory) nameWidth() int { return max(8, (d.width-12-8-7-6-9-6)/2) }

func (d *directory) status() string {
	switch {
	case d.err != nil:
		return d.bad(clean(d.err.Error(), 300))
	case !d.read:
		return "reading…"
	case len(d.entries) == 0:
		return "no run and no session log here  ? help"
	}
	out := fmt.Sprintf("%s of %s", thousands(d.cursor+1), thousands(d.n))
	if d.more > 0 {
		out += fmt.Sprintf("  %s more are not listed", thousands(d.more))
	}
	return out + "  ? help"
}

func (d *directory) keys() []binding { return []binding{{"enter", "open the run or the session"}} }

func (d *directory) body() []string {
	var out []string
	for i := d.top; i < min(len(d.entries), d.top+d.height); i++ {
		line := d.line(&d.entries[i])
		if i == d.cursor {
			line = d.selected(pad(line, d.width))
		}
		out = append(out, line)
	}
	return out
}

func (d *directory) line(e *summary) string {
	w := d.nameWidth()
	name := clean(e.name, 200)
	if e.kind == kindDir {
		return pad(name+"/", w)
	}
	if e.err != nil {
		return pad(name, w) + " " + d.bad(clean(e.err.Error(), 300))
	}
	if !e.ready {
		return pad(name, w) + " " + d.dim("reading…")
	}
	verdict, findings, rate := d.dim(pad("session", 12)), "", ""
	if e.kind == kindRun {
		verdict, findings = pad(d.verdict(e.verdict), 12), fmt.Sprint(e.findings)
	}
	if e.rate > 0 {
		rate = fmt.Sprintf("%.1f", e.rate)
	}
	return pad(name, w) + " " + pad(e.server, w) + " " + verdict + " " + left(findings, 8) + " " + left(fmt.Sprint(e.calls), 7) + " " + left(fmt.Sprint(e.failed), 6) + " " + left(rate, 9)
}
