package spy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

var (
	client = &reassembly.Process{PID: 10, Comm: "client", User: "dev", UID: 1000, Command: []string{"/usr/bin/node", "/opt/client.js"}}
	server = &reassembly.Process{PID: 20, Comm: "server", User: "dev", UID: 1000, Container: "0123456789ab"}
)

// token is put together here, so that no scanner takes this file for one.
var token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0" + "4IkQ5h"

// seen is what a watch prints and says of one conversation.
func seen(t *testing.T, o Options, raw ...string) (out, said string, w *watch) {
	t.Helper()
	var b bytes.Buffer
	o.Out = &b
	o.Say = func(line string) { said += line + "\n" }
	w = newWatch(o)
	w.began = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := &reassembly.Conversation{ID: 1, Transport: reassembly.Stdio, Client: client, Server: server}
	for i, text := range raw {
		m := &reassembly.Message{Conversation: c, Dir: session.C2S, At: time.Duration(i) * time.Millisecond, From: client, To: server, Raw: []byte(text)}
		if i%2 == 1 {
			m.Dir, m.From, m.To = session.S2C, server, client
		}
		w.message(m)
	}
	w.ended(c)
	if err := w.flush(); err != nil {
		t.Fatal(err)
	}
	return b.String(), said, w
}

var talked = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
	`{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"s","version":"2"}}}`,
	`[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t"}},{"jsonrpc":"2.0","method":"x/y"}]`,
	`{"jsonrpc":"2.0","id":2,"error":{"code":1,"message":"no"}}`,
	`not json ` + "\u202e",
}

func TestRecords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, _, w := seen(t, Options{Format: JSONL, Redact: RedactAuto, Dir: dir}, talked...)
	var got []string
	for line := range strings.Lines(out) {
		var r struct {
			Timestamp string          `json:"timestamp"`
			Transport string          `json:"transport_type"`
			Stdio     *stdioTransport `json:"stdio_transport"`
			Type      string          `json:"type"`
			Method    string          `json:"method"`
			Request   *requested      `json:"request"`
			Raw       string          `json:"raw"`
			Server    *serverInfo     `json:"server"`
			Batch     *int            `json:"batch"`
			Duration  *float64        `json:"duration_ms"`
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Stdio == nil || r.Transport != "stdio" || r.Timestamp == "" || r.Raw == "" {
			t.Fatalf("%s: %v", line, err)
		}
		s := r.Type + " " + r.Method
		if r.Request != nil {
			s += "to " + r.Request.Method
		}
		if r.Server != nil {
			s += " of " + r.Server.Name
		}
		if r.Batch != nil {
			s += " in a batch"
		}
		if r.Duration != nil && *r.Duration != 1 {
			t.Errorf("%s took %f ms", s, *r.Duration)
		}
		got = append(got, s)
	}
	want := []string{"request initialize", "response to initialize of s", "request tools/call of s in a batch", "notification x/y of s in a batch", "response to tools/call of s", "other "}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(out, "\u202e") {
		t.Error("a character that turns text around is printed as it is")
	}
	if w.result.Messages != 5 || w.result.Conversations != 1 || !w.result.Complete() {
		t.Errorf("%+v", w.result)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v: %v", names, err)
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n := 0
	for frame, err := range session.ReadFrames(f, nil) {
		if err != nil || frame.Dir != []session.Dir{session.C2S, session.S2C}[n%2] {
			t.Errorf("%+v: %v", frame, err)
		}
		n++
	}
	if n != 5 {
		t.Errorf("%d frames", n)
	}
}

func TestSecretsAreReplaced(t *testing.T) {
	t.Parallel()
	text := `{"jsonrpc":"2.0","method":"x","params":{"key":"` + token + `"}}`
	for _, c := range []struct {
		o     Options
		shown bool
	}{
		{Options{Format: Console, Redact: RedactAuto, Terminal: true, Color: true}, false},
		{Options{Format: Console, Redact: RedactAuto}, true},
		{Options{Format: JSONL, Redact: RedactAlways}, false},
		{Options{Format: JSONL, Redact: RedactAuto, Terminal: true}, false},
		{Options{Format: JSONL, Redact: RedactAuto}, true},
		{Options{Format: Console, Redact: RedactAlways}, false},
		{Options{Format: Console, Redact: RedactNever, Terminal: true}, true},
	} {
		if out, _, _ := seen(t, c.o, text); strings.Contains(out, token[:20]) != c.shown || out == "" {
			t.Errorf("%+v: %s", c.o, out)
		}
	}
}

func TestDetect(t *testing.T) {
	t.Parallel()
	_, said, w := seen(t, Options{Format: Console, Redact: RedactNever, Detect: true}, talked[0], talked[1],
		`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`, `{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`,
		`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"b"}}`)
	if !w.result.Found || !strings.Contains(said, "fabricated_tool_call") {
		t.Errorf("%+v: %s", w.result, said)
	}
	if _, said, w := seen(t, Options{Format: Console, Detect: true}, talked[:2]...); w.result.Found || said != "" {
		t.Errorf("a quiet conversation: %s", said)
	}
}

func TestFilters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		o    Options
		want bool
	}{
		"none":               {Options{}, true},
		"comm":               {Options{Comms: []string{"server"}}, true},
		"script":             {Options{Comms: []string{"client.js"}}, true},
		"another comm":       {Options{Comms: []string{"other"}}, false},
		"exclude":            {Options{Exclude: []string{"client"}}, false},
		"container":          {Options{Containers: []string{"0123456789abcdef"}}, true},
		"another container":  {Options{Containers: []string{"ffff"}}, false},
		"user":               {Options{Users: []string{"dev"}}, true},
		"uid":                {Options{Users: []string{"1000"}}, true},
		"another user":       {Options{Users: []string{"root"}}, false},
		"comm, another user": {Options{Comms: []string{"server"}, Users: []string{"root"}}, false},
	} {
		if got := c.o.wanted(client, server); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
