package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// maxPrompt bounds what is typed, in characters.
const maxPrompt = 200

// prompt is a line of text that is typed.
type prompt struct {
	what string
	text []rune
}

// insert adds what was typed or pasted, as far as it can be shown.
func (p *prompt) insert(s string) {
	for _, r := range clean(s, 4*maxPrompt) {
		if len(p.text) < maxPrompt {
			p.text = append(p.text, r)
		}
	}
}

// key takes a key. done says that the prompt ends, kept that its text counts.
func (p *prompt) key(msg tea.KeyPressMsg) (text string, done, kept bool) {
	switch msg.String() {
	case "enter":
		return strings.TrimSpace(string(p.text)), true, true
	case "esc":
		return "", true, false
	case "backspace":
		p.text = p.text[:max(0, len(p.text)-1)]
	case "ctrl+u":
		p.text = nil
	default:
		p.insert(msg.Text)
	}
	return "", false, false
}

// line is the prompt, of whose text the end is always seen.
func (p *prompt) line(w int) string {
	text := string(p.text)
	room := max(1, w-len(p.what)-3)
	if over := ansi.StringWidth(text) - room; over > 0 {
		text = ansi.TruncateLeft(text, over, "")
	}
	return p.what + ": " + text + "_"
}
