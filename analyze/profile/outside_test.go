package profile

import (
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// A refusal of a path that leads out of a directory shows where a tool may work, unless the same answer gave the file.
func TestRefusalsOfPaths(t *testing.T) {
	t.Parallel()
	const text = "a text of its own in a file"
	aim := session.Injection{Oracle: session.OraclePath, Path: "/etc/aim", Value: text}
	for _, c := range []struct {
		name, answer string
		in           []session.Injection
		want         Refusal
	}{
		{"outside of a root", "Path ../../x is outside the project root", []session.Injection{aim}, Refusal{Text: "outside the project root"}},
		{"escapes", "x escapes the allowed directory", []session.Injection{aim}, Refusal{Text: "escapes the allowed directory"}},
		{"not within", "x is not within its base directory", []session.Injection{aim}, Refusal{Text: "not within its base directory"}},
		{"dots alone", "Path traversal detected", []session.Injection{aim}, Refusal{Text: "Path traversal", Climbs: true}},
		{"a file that is not there", "ENOENT: no such file", []session.Injection{aim}, Refusal{}},
		{"a note beside the file", "outside the project root: " + text, []session.Injection{aim}, Refusal{}},
		{"another input", "outside the project root", []session.Injection{{Oracle: session.OracleCommand, Token: "k"}}, Refusal{}},
		{"no input", "outside the project root", nil, Refusal{}},
	} {
		b := NewBuilder(Context{})
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "read", Time: time.Second, Oracles: c.in})
		b.Crossed(&session.Mark{Kind: session.MarkFrame, Seq: 1}, false)
		b.Frame(1, 0, []byte(`{"result":{"content":[{"type":"text","text":"`+c.answer+`"}]}}`))
		if got := b.Profile().Refusals["read"]; got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}
