package spy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// plant writes the token into every text of what v holds.
func plant(v reflect.Value) {
	switch {
	case v.Type() == rawType:
		v.SetBytes([]byte(`{"a":["` + token + `"]}`))
	case v.Kind() == reflect.String:
		v.SetString(token)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem())
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				plant(f)
			}
		}
	}
}

func planted[T any]() *T {
	v := new(T)
	plant(reflect.ValueOf(v).Elem())
	return v
}

// allOutputs prints a record, an effect and a finding that hold the token in every field, and judges a frame that does.
func allOutputs(t *testing.T, o Options) (out, said, logs string) {
	t.Helper()
	var b bytes.Buffer
	o.Out, o.Dir, o.Detect = &b, t.TempDir(), true
	o.Say = func(line string) { said += line + "\n" }
	w := newWatch(o)
	p := planted[reassembly.Process]()
	c := &reassembly.Conversation{ID: 1, Transport: reassembly.HTTP, Client: p, Server: p, Host: token}
	for i, raw := range []string{talked[0], talked[1], `{"jsonrpc":"2.0","id":3,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`,
		`{"jsonrpc":"2.0","id":"` + token + `","method":"tools/call","params":{"name":"` + token + `"}}`} {
		m := &reassembly.Message{Conversation: c, Dir: session.C2S, From: p, To: p, Raw: []byte(raw), SSE: planted[session.SSE](), HTTP: planted[reassembly.Web]()}
		if i%2 == 1 {
			m.Dir = session.S2C
		}
		w.message(m)
	}
	w.print(planted[record]())
	s := &observed{process: p, name: planted[serverInfo](), talks: []int{1}}
	w.effect(s, planted[finding.Effect]())
	w.finding(s, planted[finding.Finding]())
	w.say("warning: " + token)
	w.ended(c)
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(o.Dir, "*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v: %v", names, err)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return b.String(), said, names[0] + string(raw)
}

// TestNoFieldShowsASecret: whatever member of whatever record holds one.
func TestNoFieldShowsASecret(t *testing.T) {
	t.Parallel()
	for _, format := range []string{Console, JSONL} {
		for _, c := range []struct {
			o               Options
			out, said, logs bool // show it
		}{
			{Options{Redact: RedactAlways}, false, false, false},
			{Options{Redact: RedactAuto, Terminal: true, SayTerminal: true}, false, false, true},
			{Options{Redact: RedactAuto, Terminal: true}, false, true, true},
			{Options{Redact: RedactAuto, SayTerminal: true}, true, false, true},
			{Options{Redact: RedactNever, Terminal: true, SayTerminal: true}, true, true, true},
		} {
			c.o.Format = format
			out, said, logs := allOutputs(t, c.o)
			for name, got := range map[string]struct {
				text  string
				shown bool
			}{"printed": {out, c.out}, "said": {said, c.said}, "logged": {logs, c.logs}} {
				if strings.Contains(got.text, token[:12]) != got.shown || got.text == "" {
					t.Errorf("%s, --redact %s, terminals %t and %t: %s: %s", format, c.o.Redact, c.o.Terminal, c.o.SayTerminal, name, got.text)
				}
			}
			for line := range strings.Lines(out) {
				if format == JSONL && !json.Valid([]byte(line)) {
					t.Errorf("--redact %s: no JSON: %s", c.o.Redact, line)
				}
			}
			if !strings.Contains(said, "fabricated_tool_call") || !strings.Contains(said, "warning: ") {
				t.Errorf("said: %s", said)
			}
		}
	}
}

// TestHiddenLeavesTheOriginal: processes are shared, and go on to be judged.
func TestHiddenLeavesTheOriginal(t *testing.T) {
	t.Parallel()
	r := &record{From: &reassembly.Process{Command: []string{token}}, ID: json.RawMessage(`4111111111111111`), at: time.Unix(1, 0)}
	h := hidden(true, r)
	if r.From.Command[0] != token || string(r.ID) != "4111111111111111" {
		t.Errorf("the original changed: %+v", r)
	}
	if strings.Contains(h.From.Command[0], token[:12]) || !json.Valid(h.ID) || strings.Contains(string(h.ID), "4111") || !h.at.Equal(r.at) {
		t.Errorf("%+v", h)
	}
}

func TestHiddenWords(t *testing.T) {
	t.Parallel()
	value := token[4:30] // only its name makes it a secret
	for _, c := range [][]string{
		{"/opt/server", "--api-key", value, "notes"},
		{"/opt/server", "--api-key=" + value, "notes"},
		{"env", "MY_API_KEY=" + value, "notes"},
		{"/opt/server", token, "notes"},
	} {
		got := strings.Join(hiddenWords(c), " ")
		if strings.Contains(got, value) || !strings.HasPrefix(got, c[0]+" ") || !strings.HasSuffix(got, " notes") || !strings.Contains(got, "redacted") {
			t.Errorf("%q: %s", c, got)
		}
	}
	plain := []string{"/opt/server", "--name", value}
	if got := hiddenWords(plain); got[2] != value {
		t.Errorf("%q", got)
	}
}

// TestHiddenIDsPair: ids that look the same once they are hidden belong to different calls.
func TestHiddenIDsPair(t *testing.T) {
	t.Parallel()
	one, other := token[:len(token)-1]+"A", token[:len(token)-1]+"B"
	out, _, _ := seen(t, Options{Format: JSONL, Redact: RedactAlways},
		`[{"jsonrpc":"2.0","id":"`+one+`","method":"one"},{"jsonrpc":"2.0","id":"`+other+`","method":"other"}]`,
		`{"jsonrpc":"2.0","id":"`+one+`","result":{}}`, `{}`, `{"jsonrpc":"2.0","id":"`+other+`","result":{}}`)
	var got []string
	for line := range strings.Lines(out) {
		var r struct {
			Request *requested `json:"request"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Request != nil {
			got = append(got, r.Request.Method)
		}
	}
	if strings.Join(got, " ") != "one other" || strings.Contains(out, token[:12]) {
		t.Errorf("answers to %q: %s", got, out)
	}
}
