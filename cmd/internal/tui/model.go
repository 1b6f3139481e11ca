package tui

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// screen is one view. Screens lie on one another: what one opens covers it.
type screen interface {
	// start is the first command of a screen that was opened.
	start() tea.Cmd
	resize(w, h int)
	update(msg tea.Msg) tea.Cmd
	// title and head are the two lines above the body, status is the line below it.
	title() string
	head() string
	status() string
	// body has at most as many lines as resize gave.
	body() []string
	keys() []binding
}

// binding is a line of the help.
type binding struct{ key, does string }

// The messages between screens and the Model.
type (
	pushMsg struct{ screen }
	popMsg  struct{}
	// askMsg asks for a line of text; answerMsg brings it to the screen on top.
	askMsg    struct{ what, text string }
	answerMsg struct{ what, text string }
	// openMsg says that what is selected should be opened: by enter or by a click.
	openMsg struct{}
)

// later leaves a message that the Model takes before anything else: a key that is typed ahead
// then finds the screen or the prompt that the key before it opened.
func (e env) later(msg tea.Msg) tea.Cmd {
	*e.waiting = append(*e.waiting, msg)
	return nil
}

func (e env) push(s screen) tea.Cmd { return e.later(pushMsg{s}) }

func (e env) prompt(what, text string) tea.Cmd { return e.later(askMsg{what, text}) }

// Model is the whole terminal: screens that lie on one another, a prompt and the help.
type Model struct {
	env
	screens       []screen
	width, height int
	help          bool
	prompt        *prompt
	stop          context.CancelFunc
}

// env is what all screens have in common.
type env struct {
	// ctx ends the background work.
	ctx context.Context
	theme
	// follow keeps reading logs that grow.
	follow bool
	// version is coalmine's.
	version string
	// waiting are messages between screens, which later adds.
	waiting *[]tea.Msg
}

// Init implements tea.Model.
func (m *Model) Init() tea.Cmd { return m.top().start() }

func (m *Model) top() screen { return m.screens[len(m.screens)-1] }

// The rows of the terminal that are not the body's.
const (
	rowsAbove = 2
	rowsBelow = 1
)

func (m *Model) fitScreen(s screen) { s.resize(m.width, max(1, m.height-rowsAbove-rowsBelow)) }

// Update implements tea.Model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmds := []tea.Cmd{m.take(msg)}
	for len(*m.waiting) > 0 {
		next := (*m.waiting)[0]
		*m.waiting = (*m.waiting)[1:]
		cmds = append(cmds, m.take(next))
	}
	return m, tea.Batch(cmds...)
}

// take takes one message.
func (m *Model) take(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		for _, s := range m.screens {
			m.fitScreen(s)
		}
		return nil
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if m.prompt != nil {
			m.prompt.insert(msg.Content)
		}
		return nil
	case tea.MouseWheelMsg, tea.MouseClickMsg:
		if m.help || m.prompt != nil {
			return nil
		}
		return m.top().update(msg)
	case pushMsg:
		m.fitScreen(msg.screen)
		m.screens = append(m.screens, msg.screen)
		return msg.start()
	case popMsg:
		return m.pop()
	case askMsg:
		m.prompt = &prompt{what: msg.what, text: []rune(msg.text)}
		return nil
	}
	var cmds []tea.Cmd
	for _, s := range m.screens {
		cmds = append(cmds, s.update(msg))
	}
	return tea.Batch(cmds...)
}

func (m *Model) pop() tea.Cmd {
	if len(m.screens) == 1 {
		return tea.Quit
	}
	if c, ok := m.top().(interface{ close() }); ok {
		c.close()
	}
	m.screens = m.screens[:len(m.screens)-1]
	return nil
}

func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	k := msg.String()
	if k == "ctrl+c" {
		return tea.Quit
	}
	if m.help {
		m.help = false
		return nil
	}
	if m.prompt != nil {
		text, done, kept := m.prompt.key(msg)
		what := m.prompt.what
		if done {
			m.prompt = nil
		}
		if kept {
			return m.top().update(answerMsg{what, text})
		}
		return nil
	}
	switch k {
	case "?", "f1", "h":
		m.help = true
		return nil
	case "q", "esc", "backspace", "left":
		return m.pop()
	case "enter", "right", "l":
		return m.top().update(openMsg{})
	}
	return m.top().update(msg)
}

// View implements tea.Model.
func (m *Model) View() tea.View {
	v := tea.NewView(strings.Join(m.lines(), "\n"))
	v.AltScreen = true
	v.MouseMode = tea.MouseModeCellMotion
	v.WindowTitle = "coalmine tui"
	return v
}

// lines are all lines of the terminal.
func (m *Model) lines() []string {
	if m.width <= 0 || m.height <= 0 {
		return nil
	}
	s := m.top()
	out := []string{m.selected(pad("coalmine  "+ansi.Strip(s.title()), m.width)), pad(m.dim(fit(s.head(), m.width)), m.width)}
	body := s.body()
	if m.help {
		body = m.helpLines(s)
	}
	for i := range max(1, m.height-rowsAbove-rowsBelow) {
		line := ""
		if i < len(body) {
			line = body[i]
		}
		out = append(out, pad(line, m.width))
	}
	last := s.status()
	if m.help {
		last = "any key closes the help"
	} else if m.prompt != nil {
		last = m.prompt.line(m.width)
	}
	out = append(out, pad(last, m.width))
	return out[:min(len(out), m.height)]
}

func (m *Model) helpLines(s screen) []string {
	all := append(s.keys(),
		binding{"↑ ↓ j k", "move; page up, page down, space, b, g and G too"},
		binding{"enter, →", "open what is selected; the mouse selects and opens"},
		binding{"esc, q, ←", "back; at the first screen, leave"},
		binding{"?", "this help"},
		binding{"ctrl+c", "leave"},
	)
	out := []string{m.bold("Keys")}
	for _, b := range all {
		out = append(out, "  "+m.accent(pad(b.key, 12))+" "+b.does)
	}
	return out
}
