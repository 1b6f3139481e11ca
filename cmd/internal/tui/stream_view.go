package tui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func (s *stream) title() string {
	name := s.name
	if s.state.Server != "" {
		name += "  " + s.state.Server
	}
	did := s.state.Effects + s.state.Findings
	out := fmt.Sprintf("%s  %s, %s, %s", name, count(s.state.Frames-did, "frame"), count(s.state.Calls, "call"), count(s.state.Failed, "error"))
	if did > 0 {
		out += fmt.Sprintf(", %s, %s", count(s.state.Effects, "effect"), count(s.state.Findings, "finding"))
	}
	return out
}

func (s *stream) head() string {
	return left("seq", 7) + "    " + left("seconds", 10) + "  " + pad("method and tool", nameWidth(s.width)) + " " + left("took", 8) + "  content"
}

func (s *stream) status() string {
	if s.note != "" {
		return s.warn(clean(s.note, 300))
	}
	out := "0 of 0"
	if s.n > 0 {
		out = fmt.Sprintf("%s of %s", thousands(s.cursor+1), thousands(s.n))
	}
	if s.typed != "" {
		out += "  filter: " + clean(s.typed, 200)
	}
	if s.searching > 0 {
		out += "  searching…"
	}
	switch {
	case s.state.Err != nil:
		out += "  " + s.bad(clean(s.state.Err.Error(), 200))
	case s.state.Left > 0:
		out += fmt.Sprintf("  %s more frames than the index holds", thousands(int(s.state.Left)))
	case !s.state.End || s.busy:
		out += "  reading…"
	case s.stick:
		out += "  following"
	}
	return out + "  ? help"
}

func (s *stream) keys() []binding {
	return []binding{
		{"f", "filter: " + frames.FilterHelp},
		{"e", "only errors, or all"}, {"t", "only this tool"}, {"x", "no filter"},
		{"/ n N", "search, next, previous"},
		{"p", "the answer to this request, or the request of this answer"},
		{"F", "stay at the end of a log that grows"},
	}
}

func (s *stream) body() []string { return s.rows }

// fill makes the lines of the window.
func (s *stream) fill() {
	s.rows = s.rows[:0]
	for i := s.top; i < min(s.n, s.top+s.height); i++ {
		at := s.at(i)
		row := s.row(at)
		if i == s.cursor {
			row = s.selected(pad(row, s.width))
		}
		s.rows = append(s.rows, row)
	}
}

func nameWidth(w int) int { return max(10, min(36, w/3)) }

// row is the line of one frame.
func (s *stream) row(at int) string {
	f := s.x.Frame(at)
	seq := "-"
	if f.Seq > 0 {
		seq = fmt.Sprint(f.Seq)
	}
	arrow := "→"
	if f.Dir == session.S2C {
		arrow = "←"
	}
	if f.Kind == frames.Effect || f.Kind == frames.Finding {
		arrow = "·"
	}
	when := ""
	if !f.Time.IsZero() && !s.state.First.IsZero() {
		when = fmt.Sprintf("%.3f", f.Time.Sub(s.state.First).Seconds())
	}
	line := left(seq, 7) + " " + arrow + " " + s.mark(&f) + left(when, 10) + "  " + s.what(&f) + " " + left(took(s.x, &f), 8) + "  "
	room := s.width - 7 - 4 - 10 - 2 - nameWidth(s.width) - 1 - 8 - 2
	if room > 0 {
		line += fit(clean(s.x.Preview(at, 4*room), 4*room), room)
	}
	return line
}

// mark is a character that says what is wrong with a frame.
func (s *stream) mark(f *frames.Frame) string {
	switch {
	case f.Blocked:
		return s.bad("x")
	case f.Failed, f.Kind == frames.NoJSON, f.Kind == frames.Damaged, f.Kind == frames.Other:
		return s.bad("!")
	case f.Kind == frames.Request && f.Pair < 0 && s.state.End:
		return s.warn("?")
	}
	return " "
}

func (s *stream) what(f *frames.Frame) string {
	w := nameWidth(s.width)
	name := label(f)
	switch {
	case f.Kind == frames.Effect:
		return s.warn(pad(name, w))
	case f.Failed, f.Kind >= frames.Other:
		return s.bad(pad(name, w))
	case f.Kind == frames.Answer:
		return pad(name, w)
	}
	return s.accent(pad(name, w))
}

// label is what a frame is, in a few words.
func label(f *frames.Frame) string {
	name := f.Method
	if f.Tool != "" {
		name += " " + f.Tool
		if f.Method == "tools/call" {
			name = "call " + f.Tool
		}
	}
	switch f.Kind {
	case frames.Answer:
		word := "ok "
		if f.Failed {
			word = "error "
		}
		if f.Pair < 0 {
			return word + "(to no request)"
		}
		return word + name
	case frames.Batch:
		return "batch"
	case frames.Other:
		return "no message"
	case frames.NoJSON:
		return "no JSON"
	case frames.Damaged:
		return "damaged line"
	case frames.Effect:
		return "did " + name
	case frames.Finding:
		return "found " + name
	}
	return name
}

// took is how long an answer took.
func took(x *frames.Index, f *frames.Frame) string {
	if f.Kind != frames.Answer || f.Pair < 0 {
		return ""
	}
	began := x.Frame(f.Pair).Time
	if began.IsZero() || f.Time.IsZero() {
		return ""
	}
	return duration(f.Time.Sub(began))
}

func duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + duration(-d)
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func count(n int, word string) string {
	if n < 1000 {
		return text.Plural(n, word)
	}
	return thousands(n) + " " + word + "s"
}

// thousands writes a number in groups of three.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// toggle adds a word to a filter, or takes it away.
func toggle(typed, word string) string {
	out, had := "", false
	for _, w := range strings.Fields(typed) {
		if w == word {
			had = true
			continue
		}
		out += w + " "
	}
	if !had {
		out += word
	}
	return strings.TrimSpace(out)
}

func wheelBy(m tea.MouseWheelMsg) int {
	if m.Button == tea.MouseWheelUp {
		return -3
	}
	return 3
}
