package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

const kept = "a-value-that-stands-nowhere-else"

// conversation is a run in which each call sends something over one flow.
func conversation(app string, sent ...string) []finding.Effect {
	b := builder()
	at := time.Second
	flow := trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", App: app, Host: "c.net", Dest: netip.MustParseAddrPort("8.8.4.4:80"), Stamp: at}
	b.Flow(&flow)
	for i, text := range sent {
		at += time.Second
		b.Mark(&session.Mark{Kind: "call", Call: i + 1, Tool: fmt.Sprintf("tool%d", i+1), Time: at})
		flow.Type, flow.View, flow.Data, flow.Stamp = trace.FlowData, trace.ViewWire, []byte(text), at+100*time.Millisecond
		b.Flow(&flow)
		b.Mark(&session.Mark{Kind: "return", Call: i + 1, Time: at + 200*time.Millisecond})
	}
	var left []finding.Effect
	for _, e := range b.Profile().Effects {
		if e.Kind == finding.Secret {
			left = append(left, e)
		}
	}
	return left
}

func post(header, body string) string {
	return fmt.Sprintf("POST /x HTTP/1.1\r\nHost: c.net\r\n%sContent-Length: %d\r\n\r\n%s", header, len(body), body)
}

func TestKeptConnection(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write([]byte(kept))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	zipped := post("Content-Encoding: gzip\r\n", packed.String())
	for _, c := range []struct {
		name, app string
		sent      []string
		want      string
	}{
		{"each call", "http/1.1", []string{post("", kept), post("", "nothing"), post("", kept), zipped}, "tool1 raw, tool3 raw, tool4 gzip"},
		{"no protocol", "", []string{"x" + kept, "y", kept + "z"}, "tool1 raw, tool3 raw"},
		{"over two calls", "", []string{kept[:10], kept[10:]}, "tool1 raw"},
		{"once", "http/1.1", []string{post("", kept)}, "tool1 raw"},
		{"nothing", "http/1.1", []string{post("", "no"), post("", "none")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, e := range conversation(c.app, c.sent...) {
				got = append(got, e.Tool+" "+e.Encoding)
				if e.Count != 1 || e.Host != "c.net" || e.Rung != finding.RungLeft {
					t.Errorf("%+v", e)
				}
			}
			if strings.Join(got, ", ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestPointer(t *testing.T) {
	nested, err := json.Marshal(map[string]any{"k": kept})
	if err != nil {
		t.Fatal(err)
	}
	b := builder()
	for _, c := range []struct {
		message any
		want    string
	}{
		{map[string]any{"result": map[string]any{"content": []any{"none", map[string]any{"text": "x" + kept}}}}, " at /result/content/1/text"},
		{map[string]any{"a/b~c": string(nested)}, " at /a~1b~0c"},
		{map[string]any{"first": kept[:9], "second": kept[9:]}, ""},
		{kept, ""},
	} {
		raw, err := json.Marshal(c.message)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.pointers(raw, []canaries.Hit{{ID: "ssh-key"}})["ssh-key"]; got != c.want {
			t.Errorf("%s: %q, want %q", raw, got, c.want)
		}
	}
	if got := b.pointers([]byte("no message: "+kept), []canaries.Hit{{ID: "ssh-key"}})["ssh-key"]; got != "" {
		t.Errorf("a line that is not JSON: %q", got)
	}
	if got := b.pointers([]byte(`{"`+kept+`":1}`), []canaries.Hit{{ID: "ssh-key"}})["ssh-key"]; strings.Contains(got, kept) || !strings.HasPrefix(got, " at /") {
		t.Errorf("a key that is a decoy: %q", got)
	}
}

func TestTail(t *testing.T) {
	b := builder()
	for _, c := range []struct {
		text   string
		offset int64 // -1: nothing is found
	}{
		{"x" + kept[:7], -1}, {kept[7:20], -1}, {kept[20:] + " y", 1}, {"more", -1}, {kept, int64(len(kept)) + 7}, {strings.Repeat("z", 3*maxTail), -1}, {kept, int64(2*len(kept)) + 7 + 3*maxTail},
	} {
		hits, err := b.said.more(b.find, c.text)
		if err != nil {
			t.Error(err)
		}
		if len(hits) > 1 || len(hits) == 0 != (c.offset < 0) || len(hits) == 1 && hits[0].Offset != c.offset {
			t.Errorf("%.20q: %+v, want offset %d", c.text, hits, c.offset)
		}
		if len(b.said.kept) > maxTail {
			t.Errorf("%d bytes are kept", len(b.said.kept))
		}
	}
}

// What cannot be searched whole is said, on the wire as on stderr: enough false starts
// of packed streams hide a true one.
func TestWhatCannotBeSearchedIsUnread(t *testing.T) {
	starts := bytes.Repeat([]byte("\x78\x01"), 2000)
	b := builder()
	b.Frame(1, 0, starts)
	b.Frame(2, 0, starts)
	b.stderr(&session.Mark{Kind: session.MarkStderr, Data: starts})
	if len(b.out.Unread) != 2 || !strings.Contains(b.out.Unread[0], "a message") || !strings.Contains(b.out.Unread[1], "stderr") {
		t.Errorf("%q", b.out.Unread)
	}
}

// A decoy in the place of another is not at home there.
func TestADecoyInAnothersPlaceIsTold(t *testing.T) {
	for canary, want := range map[string]int{"ssh-key": 0, "token": 1} {
		b := builder()
		b.Mark(&session.Mark{Kind: session.MarkEvent, Event: &session.Event{Body: session.EventFound{Path: key, Canary: canary, Encoding: "raw"}}})
		n := 0
		for _, e := range b.out.Effects {
			if e.Kind == finding.Secret && e.Target == canary {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d effects, want %d", canary, n, want)
		}
	}
}
