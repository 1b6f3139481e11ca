package tui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
)

// findingView is one finding with its evidence, from which each piece leads to its moment.
type findingView struct {
	env
	list
	of    *runView
	f     *finding.Finding
	items []item
	width int
}

// jumpMsg asks a run to show the moment of a piece of evidence.
type jumpMsg struct {
	of *runView
	e  finding.Evidence
}

func newFinding(of *runView, f *finding.Finding) *findingView {
	return &findingView{env: of.env, of: of, f: f}
}

func (v *findingView) start() tea.Cmd { return nil }

func (v *findingView) resize(w, h int) {
	v.width = w
	v.items = v.build(w)
	v.n = len(v.items)
	v.list.resize(h)
}

func (v *findingView) build(w int) []item {
	var out []item
	text := func(label, s string) {
		if s == "" {
			return
		}
		for i, line := range hardwrap(clean(s, 4000), max(10, w-13)) {
			if i > 0 {
				label = ""
			}
			out = append(out, said(v.dim(pad(label, 12))+" "+line))
		}
	}
	f := v.f
	out = append(out, said(v.severity(f.Severity)+" "+v.bold(clean(f.Rule+"  "+f.Title, 200))))
	text("observed", f.Message)
	text("tool", f.Tool)
	if f.Call > 0 {
		text("call", fmt.Sprint(f.Call))
	}
	text("phase", string(f.Phase))
	text("rung", string(f.Rung))
	text("confidence", string(f.Confidence))
	text("fix", report.AdviceOf(f.Rule).Fix)
	text("reproduce", f.Reproduce)
	out = append(out, said(""), said(v.bold("Evidence")+v.dim("  enter shows the moment")))
	for _, e := range f.Evidence {
		out = append(out, item{
			line: func(int) string { return "  " + v.accent(pad(place(&e), 12)) + " " + clean(e.Text, 600) },
			open: func() tea.Cmd { return v.later(jumpMsg{v.of, e}) },
		})
	}
	return out
}

// place names where a piece of evidence stands.
func place(e *finding.Evidence) string {
	switch {
	case e.Location != nil:
		return fmt.Sprintf("%s:%d", clean(e.Location.Path, 100), e.Location.Line)
	case e.Seq > 0:
		return fmt.Sprintf("%s %d", clean(e.Source, 10), e.Seq)
	}
	return clean(e.Source, 10)
}

func (v *findingView) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		v.wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		if v.click(msg.Y - rowsAbove) {
			return v.open()
		}
	case openMsg:
		return v.open()
	case tea.KeyPressMsg:
		v.key(msg.String())
	}
	return nil
}

func (v *findingView) open() tea.Cmd {
	if v.cursor < len(v.items) && v.items[v.cursor].open != nil {
		return v.items[v.cursor].open()
	}
	return nil
}

func (v *findingView) title() string  { return v.of.name + "  " + clean(v.f.Rule, 40) }
func (v *findingView) head() string   { return clean(v.f.Message, 300) }
func (v *findingView) body() []string { return drawItems(v.theme, v.items, &v.list, v.width) }

func (v *findingView) status() string {
	if v.of.note != "" {
		return v.warn(v.of.note)
	}
	return fmt.Sprintf("%d of %d  ? help", v.cursor+1, v.n)
}

func (v *findingView) keys() []binding {
	return []binding{{"enter", "on a piece of evidence: its frame, or its moment on the timeline"}}
}
