package session

import (
	"encoding/json"
	"time"
)

// Did is a line of a wire log that is no frame: what the server did beside talking, or what a
// rule found in it, as coalmine spy --effects saw it. Of the members below Calls an effect
// has the first group, and a finding the second.
type Did struct {
	// Type is DidEffect or DidFinding. Readers of glassport's format pass by every line whose
	// type begins as these do.
	Type string `json:"type"`
	// TS is when it happened. The line may stand behind frames that crossed later.
	TS time.Time `json:"ts"`
	// PID and Comm name the server's process.
	PID  int    `json:"pid"`
	Comm string `json:"comm"`
	// Calls name the tools, resources and prompts whose calls were open, nil for none.
	Calls []string `json:"calls,omitempty"`

	// Effect, Target, Rung and Actor are those of finding.Effect, Text says it in a line.
	Effect string `json:"effect,omitempty"`
	Target string `json:"target,omitempty"`
	Rung   string `json:"rung,omitempty"`
	Actor  string `json:"actor,omitempty"`
	Text   string `json:"text,omitempty"`

	// Rule, Severity, Message, Tool and Fingerprint are those of finding.Finding.
	Rule        string `json:"rule,omitempty"`
	Severity    string `json:"severity,omitempty"`
	Message     string `json:"message,omitempty"`
	Tool        string `json:"tool,omitempty"`
	Fingerprint string `json:"fingerprint,omitempty"`

	// Line is the line's number in the log, which a Scanner sets.
	Line int `json:"-"`
}

// The types of a Did.
const (
	DidEffect  = "glassport.effect"
	DidFinding = "glassport.finding"
)

// did reads a line of one of these types, nil for one that cannot be read: what it says is lost,
// and no frame is.
func did(line []byte, n int) *Did {
	var d Did
	if json.Unmarshal(line, &d) != nil {
		return nil
	}
	d.Line = n
	return &d
}

// Did records what the server did. It is no frame and has no seq.
func (l *WireLog) Did(d *Did) {
	line, err := json.Marshal(d)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || err != nil || len(line) >= MaxLine {
		l.dropped++
		return
	}
	l.file.buf = append(append(l.file.buf, line...), '\n')
	l.buffered()
}
