package tui

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// stream is a session: its frames, one a line.
type stream struct {
	env
	list
	name  string
	file  io.Closer
	x     *frames.Index
	width int
	state frames.State
	stop  func()

	typed  string
	filter frames.Filter
	// gen numbers the filters: what an earlier one still finds is dropped. matched are the positions
	// that the filter chose of the frames below upTo; busy says that the rest is being looked at.
	gen     int
	matched []uint32
	upTo    int
	busy    bool

	search    string
	searching int // the number of the search under way, 0 for none
	searches  int
	note      string
	// wanted is the number of a frame to go to once it is there, 0 for none.
	wanted uint64
	rows   []string
}

// The messages of a stream. Each names the index that it is about.
type (
	indexMsg struct{ x *frames.Index }
	matchMsg struct {
		x     *frames.Index
		gen   int
		found []uint32
		next  int
	}
	searchMsg struct {
		x        *frames.Index
		n        int
		at, step int
		found    bool
	}
)

func newStream(e env, name string, file io.Closer, x *frames.Index) *stream {
	return &stream{env: e, name: name, file: file, x: x}
}

func (s *stream) start() tea.Cmd {
	ctx, stop := context.WithCancel(s.ctx)
	s.stop = stop
	s.ctx = ctx
	return tea.Batch(func() tea.Msg {
		s.x.Build(ctx, s.follow)
		return nil
	}, s.wait())
}

// wait brings the next state of the index.
func (s *stream) wait() tea.Cmd {
	ctx, x := s.ctx, s.x
	return func() tea.Msg {
		select {
		case <-x.Changed():
			return indexMsg{x}
		case <-ctx.Done():
			return nil
		}
	}
}

func (s *stream) close() {
	s.stop()
	if s.file != nil {
		_ = s.file.Close() // it was only read
	}
}

func (s *stream) resize(w, h int) {
	s.width = w
	s.list.resize(h)
	s.fill()
}

func (s *stream) update(msg tea.Msg) tea.Cmd {
	cmd := s.take(msg)
	s.fill()
	return cmd
}

func (s *stream) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case indexMsg:
		if msg.x == s.x {
			return s.grown()
		}
	case matchMsg:
		if msg.x == s.x && msg.gen == s.gen {
			s.matched = append(s.matched, msg.found...)
			s.upTo, s.busy = msg.next, false
			s.grow(len(s.matched))
			return s.match()
		}
	case searchMsg:
		if msg.x == s.x && msg.n == s.searching {
			return s.searched(msg)
		}
	case answerMsg:
		return s.answered(msg)
	case tea.MouseWheelMsg:
		s.wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		if s.click(msg.Y - rowsAbove) {
			return s.open()
		}
	case openMsg:
		return s.open()
	case tea.KeyPressMsg:
		return s.key(msg.String())
	}
	return nil
}

// grown takes in that the index did.
func (s *stream) grown() tea.Cmd {
	s.state = s.x.State()
	var cmd tea.Cmd
	if s.filter.All() {
		s.grow(s.state.Frames)
	} else if !s.busy {
		cmd = s.match()
	}
	if s.wanted > 0 {
		if i := s.x.Find(s.wanted); i >= 0 {
			s.set(i)
			s.wanted = 0
		} else if s.state.End {
			s.note, s.wanted = fmt.Sprintf("frame %d is not in the log", s.wanted), 0
		}
	}
	if s.state.Err != nil || s.state.End && !s.follow {
		return cmd
	}
	return tea.Batch(cmd, s.wait())
}

// match goes on with the filter where frames are left.
func (s *stream) match() tea.Cmd {
	if s.filter.All() || s.upTo >= s.x.State().Frames {
		return nil
	}
	s.busy = true
	x, gen, f, from := s.x, s.gen, s.filter, s.upTo
	return func() tea.Msg {
		found, next := x.Match(&f, from)
		return matchMsg{x, gen, found, next}
	}
}

func (s *stream) key(k string) tea.Cmd {
	s.note = ""
	switch k {
	case "f":
		return s.ask("filter", s.typed)
	case "/":
		return s.ask("search", "")
	case "n":
		return s.find(s.cursor+1, 1)
	case "N":
		return s.find(s.cursor-1, -1)
	case "p":
		if f := s.x.Frame(s.at(s.cursor)); f.Pair >= 0 {
			s.show(f.Pair)
		} else {
			s.note = "this frame has no counterpart"
		}
	case "e":
		return s.setFilter(toggle(s.typed, "errors"))
	case "x":
		return s.setFilter("")
	case "t":
		return s.sameTool()
	case "F":
		s.stick = !s.stick
		s.grow(s.n)
	default:
		s.list.key(k)
	}
	return nil
}

// sameTool filters by the tool, or the method, of the frame that is selected.
func (s *stream) sameTool() tea.Cmd {
	f := s.x.Frame(s.at(s.cursor))
	switch {
	case f.Tool != "":
		return s.setFilter("tool:" + f.Tool)
	case f.Method != "":
		return s.setFilter("method:" + f.Method)
	}
	s.note = "this frame names no method"
	return nil
}

func (s *stream) answered(msg answerMsg) tea.Cmd {
	switch msg.what {
	case "filter":
		return s.setFilter(msg.text)
	case "search":
		if msg.text == "" {
			return nil
		}
		s.search = msg.text
		return s.find(s.cursor, 1)
	}
	return nil
}

// setFilter shows other frames, and keeps the cursor near the frame that it is on.
func (s *stream) setFilter(typed string) tea.Cmd {
	f, err := frames.ParseFilter(typed)
	if err != nil {
		s.note = clean(err.Error(), 200)
		return nil
	}
	s.typed, s.filter = typed, f
	s.gen++
	s.matched, s.upTo, s.busy = nil, 0, false
	s.top, s.cursor = 0, 0
	if f.All() {
		s.grow(s.state.Frames)
		return nil
	}
	s.grow(0)
	return s.match()
}

// find looks for the text of the search from a line on.
func (s *stream) find(from, step int) tea.Cmd {
	if s.search == "" {
		s.note = "press / to search"
		return nil
	}
	s.searches++
	s.searching = s.searches
	return s.look(from, step)
}

// searchBatch is how many lines one step of a search looks at.
const searchBatch = 20_000

func (s *stream) look(from, step int) tea.Cmd {
	x, n, want, lines := s.x, s.searching, s.search, s.n
	matched, all := s.matched, s.filter.All()
	return func() tea.Msg {
		m := x.Matcher(want)
		i := from
		for range searchBatch {
			if i < 0 || i >= lines {
				break
			}
			at := i
			if !all {
				at = int(matched[i])
			}
			if m(at) {
				return searchMsg{x, n, i, step, true}
			}
			i += step
		}
		return searchMsg{x, n, i, step, false}
	}
}

func (s *stream) searched(msg searchMsg) tea.Cmd {
	if msg.found {
		s.searching, s.stick = 0, false
		s.set(msg.at)
		return nil
	}
	if msg.at < 0 || msg.at >= s.n {
		s.searching = 0
		s.note = "not found: " + s.search
		return nil
	}
	return s.look(msg.at, msg.step)
}

// at is the position in the index of a line.
func (s *stream) at(line int) int {
	if s.filter.All() {
		return line
	}
	if line < 0 || line >= len(s.matched) {
		return -1
	}
	return int(s.matched[line])
}

// show selects the frame at a position, without a filter that would hide it.
func (s *stream) show(at int) {
	s.stick = false
	if s.filter.All() {
		s.set(at)
		return
	}
	i := sort.Search(len(s.matched), func(i int) bool { return int(s.matched[i]) >= at })
	if i < len(s.matched) && int(s.matched[i]) == at {
		s.set(i)
		return
	}
	s.setFilter("")
	s.set(at)
	s.note = "the filter was taken away: it hid this frame"
}

func (s *stream) open() tea.Cmd {
	if s.n == 0 {
		return nil
	}
	return s.push(newMessage(s.env, s, s.at(s.cursor)))
}

func (s *stream) title() string {
	name := s.name
	if s.state.Server != "" {
		name += "  " + s.state.Server
	}
	return fmt.Sprintf("%s  %s, %s, %s", name, count(s.state.Frames, "frame"), count(s.state.Calls, "call"), count(s.state.Failed, "error"))
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
