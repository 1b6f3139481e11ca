package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
)

// item is a line of a list, and what it opens.
type item struct {
	line func(w int) string
	// open is nil for a line that opens nothing.
	open func() tea.Cmd
}

func said(s string) item { return item{line: func(int) string { return s }} }

// tab is one of the views of a run.
type tab struct {
	name  string
	items []item
	list  list
}

// The tabs of a run, by their order.
const (
	tabOverview = iota
	tabFindings
	tabTools
	tabTimeline
	tabSessions
	tabCount
)

// runView is the directory of a run, or a report without one.
type runView struct {
	env
	path, name    string
	reportOnly    bool
	data          *runData
	err           error
	tabs          [tabCount]tab
	at            int
	width, height int
	search, note  string
	moments       *moments
	// wanted is the moment to go to once the timeline was read, nil for none.
	wanted *moment
	// seen is what the run's files were when they were last read.
	seen runSigns
}

// runMsg brings what was read of a run.
type runMsg struct {
	of   *runView
	data *runData
	err  error
	// seen is what was there before it was read, and took how long that took.
	seen runSigns
	took time.Duration
}

func newRun(e env, path string) *runView {
	v := &runView{env: e, path: path, name: clean(filepath.Base(filepath.Clean(path)), 60)}
	for i, name := range []string{"overview", "findings", "tools", "timeline", "sessions"} {
		v.tabs[i].name = name
	}
	return v
}

func newReport(e env, path string) *runView {
	v := newRun(e, path)
	v.reportOnly = true
	return v
}

func (v *runView) start() tea.Cmd {
	return func() tea.Msg {
		if v.reportOnly {
			res, err := readReportFile(v.path)
			return runMsg{of: v, data: &runData{res: res}, err: err}
		}
		began, seen := time.Now(), signsOf(v.path)
		data, err := readRun(v.path, v.version)
		return runMsg{v, data, err, seen, time.Since(began)}
	}
}

func (v *runView) list() *list { return &v.tabs[v.at].list }

func (v *runView) resize(w, h int) {
	v.width, v.height = w, h
	for i := range v.tabs {
		v.tabs[i].list.resize(h)
	}
}

func (v *runView) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case runMsg:
		if msg.of == v {
			v.data, v.err, v.seen.result = msg.data, msg.err, msg.seen.result
			if v.seen.log == "" {
				v.seen.log = msg.seen.log
			}
			v.build()
			return v.lookLater(msg.took)
		}
	case runLookMsg:
		if msg.of == v {
			return v.looked(msg)
		}
	case momentsMsg:
		if msg.of == v {
			v.tookMoments(msg.moments)
			v.showMoments()
			if msg.looked {
				return v.lookLater(msg.moments.took)
			}
		}
	case jumpMsg:
		if msg.of == v {
			return v.jump(msg)
		}
	case answerMsg:
		v.search = msg.text
		v.find(v.list().cursor, 1)
	case tea.MouseWheelMsg:
		v.list().wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		if msg.Y == rowsAbove-1 {
			return v.clickTab(msg.X)
		}
		if v.list().click(msg.Y - rowsAbove) {
			return v.open()
		}
	case openMsg:
		return v.open()
	case tea.KeyPressMsg:
		return v.key(msg.String())
	}
	return nil
}

func (v *runView) key(k string) tea.Cmd {
	v.note = ""
	switch k {
	case "1", "2", "3", "4", "5":
		return v.show(int(k[0] - '1'))
	case "tab":
		return v.show((v.at + 1) % tabCount)
	case "shift+tab":
		return v.show((v.at + tabCount - 1) % tabCount)
	case "/":
		return v.prompt("search", "")
	case "n":
		v.find(v.list().cursor+1, 1)
	case "N":
		v.find(v.list().cursor-1, -1)
	default:
		if !v.list().key(k) && v.at == tabTimeline {
			v.toggleKind(k)
		}
	}
	return nil
}

// show shows a tab, and reads what it needs.
func (v *runView) show(i int) tea.Cmd {
	v.at = i
	if i == tabTimeline && v.moments == nil && v.data != nil && !v.reportOnly {
		v.set(tabTimeline, []item{said("reading the log…")})
		return v.readMoments(".")
	}
	return nil
}

func (v *runView) clickTab(x int) tea.Cmd {
	at := 0
	for i := range v.tabs {
		w := len(v.tabWord(i)) + 2
		if x >= at && x < at+w {
			return v.show(i)
		}
		at += w
	}
	return nil
}

func (v *runView) open() tea.Cmd {
	t := &v.tabs[v.at]
	if t.list.cursor < len(t.items) && t.items[t.list.cursor].open != nil {
		return t.items[t.list.cursor].open()
	}
	return nil
}

// find selects the next line that holds the text of the search.
func (v *runView) find(from, step int) {
	t := &v.tabs[v.at]
	want := strings.ToLower(v.search)
	if want == "" {
		v.note = "press / to search"
		return
	}
	for i := from; i >= 0 && i < len(t.items); i += step {
		if strings.Contains(strings.ToLower(plainText(t.items[i].line(searchWidth))), want) {
			t.list.set(i)
			return
		}
	}
	v.note = "not found: " + clean(v.search, 100)
}

// searchWidth is how wide a line is for a search.
const searchWidth = 400

func (v *runView) set(i int, items []item) {
	v.tabs[i].items = items
	v.tabs[i].list.grow(len(items))
}

func (v *runView) build() {
	if v.data == nil || v.data.res == nil {
		why := "there is nothing to show"
		if v.err != nil {
			why = clean(v.err.Error(), 400)
		}
		for i := range tabCount {
			v.set(i, []item{said(v.bad(why))})
		}
		v.set(tabSessions, v.sessions())
		if v.data != nil && len(v.data.runs) > 0 {
			v.at, v.note = tabSessions, why // the logs of a run that is not over can be read
		}
		return
	}
	v.set(tabOverview, v.overview())
	v.set(tabFindings, v.findings())
	v.set(tabTools, v.tools())
	v.set(tabSessions, v.sessions())
	if v.reportOnly {
		none := []item{said("a report alone has no log: open the run's directory")}
		v.set(tabTimeline, none)
		v.set(tabSessions, none)
	}
}

// verdict is a verdict in its colour.
func (t theme) verdict(s analyze.Verdict) string {
	switch s {
	case analyze.Clean:
		return t.good(string(s))
	case analyze.Findings:
		return t.bad(string(s))
	}
	return t.warn(clean(string(s), 20))
}

func (v *runView) overview() []item {
	res := v.data.res
	var out []item
	fact := func(label, format string, a ...any) {
		out = append(out, said(v.dim(pad(label, 13))+" "+fmt.Sprintf(format, a...)))
	}
	calls, failed := errorsOf(res)
	fact("verdict", "%s", v.verdict(res.Verdict))
	fact("server", "%s, protocol %s", clean(res.Server.Name+" "+res.Server.Version, 160), clean(res.Server.Protocol, 40))
	fact("target", "%s", clean(res.Run.Target, 400))
	fact("command", "%s", clean(strings.Join(res.Run.Command, " "), 400))
	fact("run", "%s, seed %d, sandbox %s, tracer %s, network %s", res.Run.Started.UTC().Format("2006-01-02 15:04:05"), res.Run.Seed, clean(res.Run.Sandbox, 40), clean(res.Run.Tracer, 40), clean(res.Run.Network, 200))
	fact("calls", "%s of %s, %s", count(calls, "call"), count(len(res.Coverage.Tools), "tool"), count(failed, "error"))
	fact("findings", "%s", count(len(res.All()), "finding"))
	fact("observed", "%s, from %s of the tracer", count(len(res.Observed), "effect"), count(res.Coverage.Records, "record"))
	if v.data.judged {
		fact("", "there is no report.json: the run was judged now")
	}
	for i, g := range res.Inconclusive {
		label := ""
		if i == 0 {
			label = "not checked"
		}
		fact(label, "%s", clean(g, 600))
	}
	if res.Server.Exit != "" {
		fact("exit", "%s", clean(res.Server.Exit, 200))
	}
	if res.Run.Reproduce != "" {
		fact("reproduce", "%s", clean(res.Run.Reproduce, 2000))
	}
	return out
}

// sorted are all findings, worst first.
func (v *runView) sorted() []finding.Finding {
	all := slices.Clone(v.data.res.All())
	rules.Sort(all)
	return all
}

func (v *runView) findings() []item {
	var out []item
	for _, f := range v.sorted() {
		out = append(out, item{
			line: func(int) string {
				return v.severity(f.Severity) + " " + pad(clean(f.Rule, 40), 6) + " " + clean(f.Message, 600)
			},
			open: func() tea.Cmd { return v.push(newFinding(v, &f)) },
		})
	}
	if len(out) == 0 {
		out = append(out, said("no finding"))
	}
	return out
}

// sessions are the logs of the target's runs.
func (v *runView) sessions() []item {
	var out []item
	if v.data == nil {
		return nil
	}
	for _, r := range v.data.runs {
		what := string(r.Role)
		if r.Experiment != "" && r.Experiment != what {
			what += " " + r.Experiment
		}
		line := pad(clean(r.Dir, 60), 20) + " " + v.accent(pad(clean(what, 60), 22)) + " " + clean(r.How, 200)
		if r.Failed != "" {
			line += v.bad("failed: " + clean(r.Failed, 200))
		}
		out = append(out, item{
			line: func(int) string { return line },
			open: func() tea.Cmd { return v.openSession(r.Dir, 0) },
		})
	}
	if len(out) == 0 {
		out = append(out, said("no session"))
	}
	return out
}

// openSession opens the log of a run, at a frame if its number is not 0.
func (v *runView) openSession(below string, seq uint64) tea.Cmd {
	file, x, err := openFrames(v.path, below)
	if err != nil {
		v.note = clean(err.Error(), 300)
		return nil
	}
	name := v.name
	if below != "." {
		name += "/" + clean(below, 60)
	}
	s := newStream(v.env, name, file, x)
	s.wanted = seq
	return v.push(s)
}

func (v *runView) title() string {
	if v.data == nil || v.data.res == nil {
		return v.name
	}
	res := v.data.res
	calls, failed := errorsOf(res)
	return fmt.Sprintf("%s  %s: %s, %s, %s, %s", v.name, clean(res.Server.Name, 60), clean(string(res.Verdict), 20), count(len(res.All()), "finding"), count(calls, "call"), count(failed, "error"))
}

func (v *runView) tabWord(i int) string {
	word := fmt.Sprintf("%d %s", i+1, v.tabs[i].name)
	if i == v.at {
		return "[" + word + "]"
	}
	return " " + word + " "
}

func (v *runView) head() string {
	var words []string
	for i := range v.tabs {
		words = append(words, v.tabWord(i))
	}
	return strings.Join(words, "  ")
}

func (v *runView) status() string {
	if v.note != "" {
		return v.warn(v.note)
	}
	out := "reading the run…"
	if l := v.list(); v.data != nil || v.err != nil {
		out = fmt.Sprintf("%s of %s", thousands(min(l.cursor+1, l.n)), thousands(l.n))
	}
	if v.at == tabTimeline && v.moments != nil {
		out += "  " + v.moments.shown()
	}
	return out + "  ? help"
}

func (v *runView) keys() []binding {
	return []binding{
		{"1 … 5, tab", "overview, findings, tools, timeline, sessions"},
		{"enter", "a finding's evidence; a moment's frame; a session's frames"},
		{"/ n N", "search, next, previous"},
		{"c f s w d o", "timeline: calls, frames, system calls, network, decoys, other"},
	}
}

func (v *runView) body() []string {
	t := &v.tabs[v.at]
	return drawItems(v.theme, t.items, &t.list, v.width)
}

// drawItems are the lines of a list's window.
func drawItems(th theme, items []item, l *list, w int) []string {
	var out []string
	for i := l.top; i < min(len(items), l.top+l.height); i++ {
		line := items[i].line(w)
		if i == l.cursor {
			line = th.selected(pad(line, w))
		}
		out = append(out, line)
	}
	return out
}
