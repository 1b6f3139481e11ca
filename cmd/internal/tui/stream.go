package tui

import (
	"context"
	"fmt"
	"io"
	"sort"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
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
		return s.prompt("filter", s.typed)
	case "/":
		return s.prompt("search", "")
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
