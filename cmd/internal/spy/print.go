package spy

import (
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/report"
)

// What a line shows of a message.
const (
	maxName    = 60
	maxContent = 160
)

// The colours of a terminal, by the type of a record.
var colours = map[string]string{typeRequest: "\x1b[36m", typeResponse: "\x1b[32m", typeNotification: "\x1b[33m", typeStrange: "\x1b[35m", typeEffect: "\x1b[34m"}

const (
	red   = "\x1b[31m"
	plain = "\x1b[0m"
)

var words = map[string]string{typeRequest: "REQ", typeResponse: "RES", typeNotification: "NOTE", typeStrange: "TEXT"}

// print writes a record.
func (w *watch) print(r *record) {
	r = hidden(w.hides.out, r) // before anything is cut, which must not hide a secret from its pattern
	if w.o.Format == JSONL {
		w.encode(r)
		return
	}
	line := hide(w.hides.out, w.line(r))
	colour := colours[r.Type]
	if r.Error != nil {
		colour = red
	}
	w.put(line, colour)
}

// encode writes a record as a line of JSON.
func (w *watch) encode(r any) {
	if err := report.EncodeLine(w.out, r); err != nil && w.broken == nil {
		w.broken = fmt.Errorf("write what was seen: %w", err)
	}
}

// put writes a line for people.
func (w *watch) put(line, colour string) {
	if w.o.Color {
		line = colour + line + plain
	}
	_, _ = w.out.WriteString(line + "\n") // flush has the error
}

// line is a record in one line: when, who to whom, what.
func (w *watch) line(r *record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s[%d] → %s[%d] #%d %s", r.at.Format("15:04:05.000"), report.Escape(r.From.Comm, maxName), r.From.PID,
		report.Escape(r.To.Comm, maxName), r.To.PID, r.Conversation, words[r.Type])
	method := r.Method
	if r.Request != nil {
		method = r.Request.Method
	}
	for _, s := range []string{method, r.Tool} {
		if s != "" {
			b.WriteString(" " + report.Escape(s, maxName))
		}
	}
	if len(r.ID) > 0 {
		b.WriteString(" id=" + report.Escape(string(r.ID), maxName))
	}
	if r.Milliseconds != nil {
		fmt.Fprintf(&b, " %.1f ms", *r.Milliseconds)
	}
	if r.Server != nil {
		b.WriteString(" (" + report.Escape(r.Server.Name, maxName) + ")")
	}
	if r.Error != nil {
		b.WriteString(" ERROR")
	}
	content := r.Raw
	for _, part := range [][]byte{r.Params, r.Result, r.Error} {
		if part != nil {
			content = string(part)
		}
	}
	b.WriteString(" " + report.Escape(content, maxContent))
	return b.String()
}
