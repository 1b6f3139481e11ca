package frames

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Message is a frame as it was read from the log.
type Message struct {
	// JSON is the value that crossed the wire, nil where the line was not JSON; Raw is that line.
	JSON json.RawMessage
	Raw  []byte
	// Gate is what the gate did, nil where there was none.
	Gate json.RawMessage
	// Body is the part that matters in one line: the arguments, the parameters, the result or the error.
	Body json.RawMessage
}

// Read reads one frame from the log.
func (x *Index) Read(i int) (*Message, error) {
	line, err := x.Line(i, session.MaxLine+1, nil)
	if err != nil {
		return nil, err
	}
	scan := session.NewScanner(bytes.NewReader(line))
	var did *session.Did
	scan.Did = func(d *session.Did) { did = d }
	f, err := scan.Next()
	if errors.Is(err, io.EOF) && did != nil {
		return &Message{JSON: line, Body: said(did)}, nil
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the line is not a frame")
	}
	if err != nil {
		return nil, fmt.Errorf("read frame: %w", err)
	}
	m := &Message{JSON: f.Message, Raw: f.Raw, Gate: f.Gate}
	m.Body = body(f.Message)
	return m, nil
}

// said is what a line about the server says, as a JSON string.
func said(d *session.Did) json.RawMessage {
	text, _ := json.Marshal(d.Text + d.Message) // a string
	return text
}

// body is the part of a message that matters.
func body(message json.RawMessage) json.RawMessage {
	var env wire.Envelope
	if env.Read(message) != nil {
		return message
	}
	switch {
	case env.Error != nil:
		return env.Error
	case env.Result != nil:
		return env.Result
	}
	out := env.Params
	if str(env.Method) == "tools/call" {
		wire.Walk(env.Params, func(k, v []byte) {
			if string(k) == "arguments" {
				out = v
			}
		})
	}
	return out
}

// maxPreviewed is the longest line that a preview reads whole.
const maxPreviewed = 32 << 10

// Preview is the beginning of what matters in a frame, as it stands in the log: not escaped.
func (x *Index) Preview(i, n int) string {
	fr := x.Frame(i)
	if fr.Size <= maxPreviewed && fr.Kind != Damaged {
		if m, err := x.Read(i); err == nil {
			if m.JSON == nil {
				return string(m.Raw[:min(n, len(m.Raw))])
			}
			return string(m.Body[:min(n, len(m.Body))])
		}
	}
	line, err := x.Line(i, int64(n)+256, nil)
	if err != nil {
		return err.Error()
	}
	if _, after, ok := bytes.Cut(line, []byte(`"frame": `)); ok {
		line = after
	}
	return string(line[:min(n, len(line))])
}
