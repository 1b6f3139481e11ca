package tui

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/coalmine-dev/coalmine/cmd/internal/wiretap"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
)

const (
	// maxCalls bounds the calls of a gate that are listed.
	maxCalls = 10_000
	// look is how long a call must have been selected before a key decides on it: who types when
	// another call comes must not decide on that.
	look = 500 * time.Millisecond
	// shownLines are the lines below the list that show the selected call.
	shownLines = 5
)

// gateway is a gate that asks, as wiretap.Answerer is.
type gateway interface {
	Next() (wiretap.Told, error)
	Answer(id uint64, answer gate.Answer) error
	Close() error
}

// held is a gate live: what it holds, let through and blocked.
type held struct {
	env
	list
	name          string
	gateway       gateway
	calls         []gateCall
	width, height int
	since         time.Time // when the selected call was selected by itself
	whole         bool      // the selected call fills the screen
	now           func() time.Time
	note          string
	err           error
}

// gateCall is a call in one line.
type gateCall struct {
	told wiretap.Told
	at   time.Time
	// until is when a call that is held is denied, and state what became of it, "" while it is held.
	until time.Time
	state string
	good  bool
	// sent says that an answer is on its way.
	sent bool
}

// The messages of a gate.
type (
	toldMsg struct {
		of   *held
		told wiretap.Told
		err  error
	}
	tickMsg struct{ of *held }
)

func newHeld(e env, name string, g gateway) *held {
	return &held{env: e, name: clean(name, 60), gateway: g, now: time.Now}
}

func (h *held) start() tea.Cmd { return h.next() }

func (h *held) close() { _ = h.gateway.Close() } // the gate denies what it holds

// next waits for what the gate tells.
func (h *held) next() tea.Cmd {
	return func() tea.Msg {
		t, err := h.gateway.Next()
		return toldMsg{h, t, err}
	}
}

// tick counts the seconds down while something is held.
func (h *held) tick() tea.Cmd {
	return tea.Tick(time.Second, func(time.Time) tea.Msg { return tickMsg{h} })
}

func (h *held) resize(w, ht int) {
	h.width, h.height = w, ht
	h.list.resize(max(1, ht-shownLines))
}

func (h *held) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case toldMsg:
		if msg.of == h {
			return h.told(msg)
		}
	case tickMsg:
		if msg.of == h && h.waiting() > 0 {
			return h.tick()
		}
	case tea.MouseWheelMsg:
		h.wheel(wheelBy(msg))
	case tea.MouseClickMsg:
		h.click(msg.Y - rowsAbove)
	case openMsg:
		h.whole = !h.whole
	case tea.KeyPressMsg:
		return h.key(msg.String())
	}
	return nil
}

// waiting counts the calls that are held.
func (h *held) waiting() (n int) {
	for i := range h.calls {
		if h.calls[i].state == "" {
			n++
		}
	}
	return n
}

// told takes in what the gate tells.
func (h *held) told(msg toldMsg) tea.Cmd {
	if msg.err != nil {
		h.err = msg.err
		for i := range h.calls {
			if h.calls[i].state == "" {
				h.calls[i].state = "denied: the gate has ended"
			}
		}
		return nil
	}
	t := msg.told
	first := h.waiting() == 0
	switch {
	case t.Over:
		h.over(t)
		return h.next()
	case t.Decided != "":
		h.add(gateCall{told: t, at: t.At, state: decisionWords[t.Decided], good: t.Decided == gate.Passed})
		return h.next()
	}
	deciding := h.selectedCall() != nil && h.selectedCall().state == ""
	h.add(gateCall{told: t, at: h.now(), until: h.now().Add(time.Duration(t.Seconds) * time.Second)})
	if !deciding {
		h.pick(len(h.calls) - 1)
	}
	if first {
		return tea.Batch(h.next(), h.tick())
	}
	return h.next()
}

// decisionWords say what became of a call about which nobody was asked.
var decisionWords = map[gate.Action]string{
	gate.Passed: "let through", gate.Unchecked: "let through unchecked", gate.Allowed: "allowed for the session", gate.Blocked: "blocked", gate.Would: "would be blocked",
}

// answerWords say what a person answered.
var answerWords = map[gate.Answer]string{
	gate.AllowOnce: "allowed once", gate.AllowSession: "allowed for the session", gate.Deny: "denied", "": "denied: no answer in time",
}

func (h *held) add(c gateCall) {
	stick := h.cursor == len(h.calls)-1 || len(h.calls) == 0
	if h.calls = append(h.calls, c); len(h.calls) > maxCalls {
		if i := slices.IndexFunc(h.calls, func(c gateCall) bool { return c.state != "" }); i >= 0 {
			h.calls = slices.Delete(h.calls, i, i+1)
			if h.cursor > i {
				h.cursor--
			}
		}
	}
	h.n = len(h.calls)
	// A call that is held stays selected: a key decides on it.
	if s := h.selectedCall(); stick && (s == nil || s.state != "") {
		h.set(h.n - 1)
	} else {
		h.set(h.cursor)
	}
}

// over takes in how a call ended that was held.
func (h *held) over(t wiretap.Told) {
	for i := range h.calls {
		if c := &h.calls[i]; c.told.ID == t.ID && c.state == "" {
			c.state, c.good = answerWords[t.Answer], t.Answer == gate.AllowOnce || t.Answer == gate.AllowSession
			if i == h.cursor {
				h.pickHeld()
			}
			return
		}
	}
}

// pickHeld selects the first call that is held.
func (h *held) pickHeld() {
	if i := slices.IndexFunc(h.calls, func(c gateCall) bool { return c.state == "" }); i >= 0 {
		h.pick(i)
	}
}

// pick selects a call that the user did not.
func (h *held) pick(i int) {
	h.set(i)
	h.since = h.now()
}

func (h *held) selectedCall() *gateCall {
	if h.cursor < 0 || h.cursor >= len(h.calls) {
		return nil
	}
	return &h.calls[h.cursor]
}

// answers are the keys that decide.
var answers = map[string]gate.Answer{"o": gate.AllowOnce, "s": gate.AllowSession, "d": gate.Deny}

func (h *held) key(k string) tea.Cmd {
	h.note = ""
	if k == "tab" {
		h.pickHeld()
		h.since = time.Time{}
		return nil
	}
	answer, ok := answers[k]
	if !ok {
		if h.list.key(k) {
			h.since = time.Time{}
		}
		return nil
	}
	c := h.selectedCall()
	switch {
	case h.err != nil:
	case c == nil || c.state != "":
		h.note = "this call is not held"
	case h.now().Sub(h.since) < look:
		h.note = "this call has only just come: press the key again"
	case c.sent:
		h.note = "this call is answered already"
	default:
		c.sent = true
		if err := h.gateway.Answer(c.told.ID, answer); err != nil {
			h.err = err
		}
	}
	return nil
}

func (h *held) title() string {
	held, blocked := h.waiting(), 0
	for i := range h.calls {
		if c := &h.calls[i]; c.state != "" && !c.good && c.told.Decided != gate.Unchecked && c.told.Decided != gate.Allowed {
			blocked++
		}
	}
	return fmt.Sprintf("gate %s  %d held, %s, %d blocked", h.name, held, count(len(h.calls), "call"), blocked)
}

// stateWidth is as wide as the longest state, as far as the terminal has room.
func (h *held) stateWidth() int { return max(8, min(26, h.width/3)) }

func (h *held) head() string {
	return pad("time", 8) + "   " + pad("decision", h.stateWidth()) + " " + pad("tool", nameWidth(h.width)) + " reason"
}

func (h *held) status() string {
	var refused *wiretap.UsageError
	switch {
	case errors.As(h.err, &refused):
		return h.bad(clean(refused.What+": "+refused.Hint, 300))
	case errors.Is(h.err, io.EOF):
		return h.warn("the gate has ended") + "  ? help"
	case h.err != nil:
		return h.bad(clean(h.err.Error(), 300))
	case h.note != "":
		return h.warn(h.note)
	case h.waiting() > 0:
		return "o once  s session  d deny  ? help"
	}
	return "waiting for calls  ? help"
}

func (h *held) keys() []binding {
	return []binding{
		{"o", "allow the selected call once"},
		{"s", "allow the tool for the same reason in this session"},
		{"d", "deny the selected call"},
		{"tab", "select the first call that is held"},
		{"enter", "show the whole call, or the list"},
	}
}

func (h *held) body() []string {
	if c := h.selectedCall(); h.whole && c != nil {
		lines := append([]string{h.line(c)}, h.detail(c)...)
		return lines[:min(len(lines), h.height)]
	}
	var out []string
	for i := h.top; i < min(h.n, h.top+h.list.height); i++ {
		line := h.line(&h.calls[i])
		if i == h.cursor {
			line = h.selected(pad(line, h.width))
		}
		out = append(out, line)
	}
	if c := h.selectedCall(); c != nil && h.height > shownLines {
		for len(out) < h.list.height {
			out = append(out, "")
		}
		lines := append([]string{h.dim(strings.Repeat("─", max(0, h.width)))}, h.detail(c)...)
		if len(lines) > shownLines {
			lines = append(lines[:shownLines-1], h.dim("… enter shows all"))
		}
		out = append(out, lines...)
	}
	return out
}

func (h *held) line(c *gateCall) string {
	mark, state := " ", c.state
	switch {
	case state == "":
		left := max(0, int(c.until.Sub(h.now()).Round(time.Second).Seconds()))
		mark, state = h.warn("?"), h.warn(fmt.Sprintf("held, %d s left", left))
	case !c.good && c.told.Decided != gate.Unchecked && c.told.Decided != gate.Allowed:
		mark, state = h.bad("x"), h.bad(state)
	}
	return pad(c.at.Format("15:04:05"), 8) + " " + mark + " " + pad(state, h.stateWidth()) + " " + h.accent(pad(cmp.Or(clean(c.told.Tool, 200), "(no tool)"), nameWidth(h.width))) + " " + clean(c.told.Why, 300)
}

// detail is all that is known of a call.
func (h *held) detail(c *gateCall) []string {
	lines := append([]string{h.bold(clean(c.told.Tool, 200))}, hardwrap(clean(c.told.Why, 600), max(1, h.width))...)
	if c.told.Arguments != "" {
		lines = append(lines, hardwrap(clean(c.told.Arguments, 4000), max(1, h.width))...)
	}
	return lines
}
