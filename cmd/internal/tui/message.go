package tui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/cmd/internal/tui/frames"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// message is one frame, opened.
type message struct {
	env
	list
	of    *stream
	at    int
	frame frames.Frame
	tree  *tree
	// raw is what the line was where it is no JSON, err why it cannot be read.
	raw string
	err error
}

func newMessage(e env, of *stream, at int) *message {
	m := &message{env: e, of: of}
	m.load(at)
	return m
}

func (m *message) load(at int) {
	m.at, m.frame = at, m.of.x.Frame(at)
	m.tree, m.raw, m.err = nil, "", nil
	m.top, m.cursor, m.n = 0, 0, 1
	read, err := m.of.x.Read(at)
	switch {
	case err != nil:
		m.err = err
	case read.JSON == nil:
		m.raw = string(read.Raw)
	default:
		m.tree = newTree(read.JSON)
		if read.Gate != nil {
			m.tree.nodes = append(m.tree.nodes, node{key: "(what the gate did)", raw: read.Gate})
		}
		m.n = len(m.tree.nodes)
	}
}

func (m *message) start() tea.Cmd  { return nil }
func (m *message) resize(w, h int) { m.list.resize(h) }

func (m *message) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case indexMsg:
		m.frame = m.of.x.Frame(m.at) // an answer may have come
	case tea.MouseWheelMsg:
		m.wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		if m.click(msg.Y - rowsAbove) {
			return m.open()
		}
	case openMsg:
		return m.open()
	case tea.KeyPressMsg:
		switch k := msg.String(); k {
		case "p":
			if m.frame.Pair >= 0 {
				m.load(m.frame.Pair)
				m.of.show(m.at)
			}
		case "n", "N":
			step := map[string]int{"n": 1, "N": -1}[k]
			if to := m.of.cursor + step; to >= 0 && to < m.of.n {
				m.of.set(to)
				m.load(m.of.at(to))
			}
		default:
			m.key(k)
		}
	}
	return nil
}

// open folds, unfolds, or shows the whole of a value.
func (m *message) open() tea.Cmd {
	if m.tree == nil {
		return m.push(newText(m.env, "line", m.raw))
	}
	n := &m.tree.nodes[m.cursor]
	if n.folds() {
		m.tree.toggle(m.cursor)
		m.grow(len(m.tree.nodes))
		return nil
	}
	if len(n.raw) > 0 && n.raw[0] == '"' {
		text, _ := unquote(n.raw, maxText)
		return m.push(newText(m.env, n.key, text))
	}
	return nil
}

func (m *message) title() string {
	if m.frame.Kind == frames.Effect || m.frame.Kind == frames.Finding {
		return m.of.name + "  " + label(&m.frame)
	}
	return fmt.Sprintf("%s  frame %d: %s", m.of.name, m.frame.Seq, label(&m.frame))
}

func (m *message) head() string {
	dir := "from the client to the server"
	if m.frame.Dir == session.S2C {
		dir = "from the server to the client"
	}
	if m.frame.Kind == frames.Effect || m.frame.Kind == frames.Finding {
		dir = "seen by coalmine spy"
	}
	out := dir
	if !m.frame.Time.IsZero() {
		out += ", " + m.frame.Time.Format("2006-01-02 15:04:05.000000")
	}
	out += ", " + bytesOf(int(m.frame.Size))
	switch {
	case m.frame.Pair >= 0 && m.frame.Kind == frames.Request:
		out += fmt.Sprintf(", answered by frame %d", m.of.x.Frame(m.frame.Pair).Seq)
	case m.frame.Pair >= 0:
		out += fmt.Sprintf(", answers frame %d after %s", m.of.x.Frame(m.frame.Pair).Seq, took(m.of.x, &m.frame))
	case m.frame.Kind == frames.Request:
		out += ", without an answer"
	}
	if m.frame.Blocked {
		out += ", blocked by the gate"
	}
	return out
}

func (m *message) status() string {
	return fmt.Sprintf("line %s of %s  enter folds, p counterpart, n next frame  ? help", thousands(m.cursor+1), thousands(m.n))
}

func (m *message) keys() []binding {
	return []binding{
		{"enter", "fold, unfold, or show the whole of a text"},
		{"p", "the answer to this request, or the request of this answer"},
		{"n N", "the next frame, the frame before"},
	}
}

func (m *message) body() []string {
	if m.err != nil {
		return []string{m.bad(clean(m.err.Error(), 400))}
	}
	var out []string
	for i := m.top; i < min(m.n, m.top+m.height); i++ {
		line := clean(m.raw, 400)
		if m.tree != nil {
			line = m.tree.line(m.theme, i)
		}
		if i == m.cursor {
			line = m.selected(line)
		}
		out = append(out, line)
	}
	return out
}

// maxText bounds a text that is shown whole, in bytes.
const maxText = 1 << 20

// textView is a long text, wrapped.
type textView struct {
	env
	list
	what  string
	text  string
	lines []string
	cut   bool
}

func newText(e env, what, text string) *textView {
	cut := len(text) > maxText
	return &textView{env: e, what: what, text: text[:min(len(text), maxText)], cut: cut}
}

func (v *textView) start() tea.Cmd { return nil }

func (v *textView) resize(w, h int) {
	v.lines = wrap(v.text, w)
	v.n = len(v.lines)
	v.list.resize(h)
}

// wrap breaks a text into lines of a width; its own lines stay.
func wrap(text string, w int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		line = clean(strings.ReplaceAll(line, "\t", "    "), 8*len(line)+8)
		out = append(out, hardwrap(line, max(w, 1))...)
	}
	return out
}

func (v *textView) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseWheelMsg:
		v.wheel(wheelBy(msg))
	case tea.KeyPressMsg:
		v.key(msg.String())
	}
	return nil
}

func (v *textView) title() string { return v.what }
func (v *textView) head() string  { return bytesOf(len(v.text)) }

func (v *textView) status() string {
	out := fmt.Sprintf("line %s of %s", thousands(v.cursor+1), thousands(v.n))
	if v.cut {
		out += "  " + v.warn("the rest is not shown: it is longer than "+bytesOf(maxText))
	}
	return out + "  ? help"
}

func (v *textView) keys() []binding { return nil }

func (v *textView) body() []string {
	var out []string
	for i := v.top; i < min(v.n, v.top+v.height); i++ {
		line := v.lines[i]
		if i == v.cursor {
			line = v.selected(line)
		}
		out = append(out, line)
	}
	return out
}
