package wirelog

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// logOf writes lines "c MESSAGE" and "s MESSAGE" as a log that begins with seq first.
func logOf(first int, lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		dir := map[byte]string{'c': "c2s", 's': "s2c"}[l[0]]
		fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-21T10:32:%02d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", first+i, i, dir, l[2:])
	}
	return b.String()
}

// events reads a log to its end, an event a line, and returns its Reader.
func events(t *testing.T, log string) ([]string, *Reader) {
	t.Helper()
	r := NewReader(strings.NewReader(log))
	var out []string
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return out, r
		}
		if err != nil {
			t.Fatal(err)
		}
		what := [...]string{"unparsed", "request", "notification", "response"}[e.Kind]
		if e.Asked != nil && e.Kind == wire.Response {
			what += fmt.Sprintf(" to %d", e.Asked.Seq)
		}
		if e.Orphan {
			what += " orphan"
		}
		if e.Ambiguous {
			what += " ambiguous"
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Seq, what, e.Method)))
	}
}

func TestPairing(t *testing.T) {
	for _, c := range []struct {
		name string
		log  string
		want []string
	}{
		{"by id and direction", logOf(1,
			`c {"id":1,"method":"tools/call","params":{"name":"a"}}`, `s {"id":1,"method":"ping"}`, `c {"id":1,"result":{}}`, `s {"id":1,"result":{}}`, `s {"id":1,"result":{}}`),
			[]string{"1 request tools/call", "2 request ping", "3 response to 2 ping", "4 response to 1 tools/call", "5 response orphan"}},
		{"a number is no string", logOf(1, `c {"id":1,"method":"ping"}`, `s {"id":"1","result":{}}`, `s {"id":1,"result":{}}`),
			[]string{"1 request ping", "2 response orphan", "3 response to 1 ping"}},
		{"a batch", logOf(1, `c [{"id":1,"method":"ping"},{"method":"n"},7]`, `s [{"id":1,"result":{}}]`),
			[]string{"1 request ping", "1 notification n", "1 unparsed", "2 response to 1 ping"}},
		{"an id in use", logOf(1, `c {"id":1,"method":"ping"}`, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{}}`),
			[]string{"1 request ping", "2 request ambiguous tools/list", "3 response orphan"}},
		{"an id after its answer", logOf(1, `c {"id":1,"method":"ping"}`, `s {"id":1,"result":{}}`, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"error":{"code":1,"message":""}}`),
			[]string{"1 request ping", "2 response to 1 ping", "3 request tools/list", "4 response to 3 tools/list"}},
		{"null answers nothing", logOf(1, `s {"id":null,"error":{"code":-32700,"message":"x"}}`), []string{"1 response"}},
		{"a log that begins in the middle", logOf(7, `s {"id":1,"result":{}}`), []string{"7 response"}},
		{"an empty batch", logOf(1, `s []`), []string{"1 unparsed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := events(t, c.log)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestGateMarks(t *testing.T) {
	log := `{"seq":1,"ts":"","dir":"c2s","frame":{"id":1,"method":"tools/call","params":{"name":"x"}},"raw":null,"gate":{"action":"blocked","tool":"x"}}
{"seq":2,"ts":"","dir":"s2c","frame":{"id":1,"error":{"code":-32000,"message":""}},"raw":null,"gate":{"action":"injected"}}
{"seq":3,"ts":"","dir":"s2c","frame":{"id":1,"result":{}},"raw":null}
`
	got, _ := events(t, log)
	if diff := cmp.Diff([]string{"1 request tools/call", "2 response to 1 tools/call", "3 response orphan"}, got); diff != "" {
		t.Error(diff)
	}
}

// Frames that a tap had to drop prove nothing about what was asked and declared.
func TestMissingFrames(t *testing.T) {
	begin := []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"}]}}`, `c {"id":2,"method":"ping"}`}
	const damage = "{\n"
	for _, c := range []struct {
		name, log string
		want      int64
		known     bool
	}{
		{"none", logOf(1, begin...) + logOf(4, `s {"id":3,"result":{}}`), 0, true},
		{"some", logOf(1, begin...) + logOf(9, `s {"id":3,"result":{}}`), 5, false},
		{"damage is counted as such", logOf(1, begin...) + damage + logOf(5, `s {"id":3,"result":{}}`), 0, true},
		{"more than damage", logOf(1, begin...) + damage + logOf(6, `s {"id":3,"result":{}}`), 1, false},
		{"one is late", logOf(1, begin...) + logOf(5, `s {"id":2,"result":{}}`) + logOf(4, `c {"id":3,"method":"ping"}`) + logOf(6, `s {"id":3,"result":{}}`), 0, false},
		{"another session behind", logOf(1, begin...) + logOf(1, `s {"id":3,"result":{}}`), 0, true},
		{"the tap says so", logOf(1, begin...) + `{"type":"glassport.metrics","records_dropped":7}` + "\n", 7, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, r := events(t, c.log)
			if r.Stats.Missing != c.want || (r.State.Surface != nil) != c.known {
				t.Errorf("%d are missing, the tools are known: %t", r.Stats.Missing, r.State.Surface != nil)
			}
			if last := got[len(got)-1]; strings.HasSuffix(last, "orphan") != (c.known && len(got) > 3) {
				t.Errorf("the last is %q", last)
			}
		})
	}
}

// Callers of a server without sessions count their ids each for itself.
func TestExchanges(t *testing.T) {
	line := func(seq int, dir, frame, x string) string {
		return fmt.Sprintf(`{"seq":%d,"ts":"","dir":%q,"frame":%s,"raw":null,"http_observation":%s}`+"\n", seq, dir, frame, x)
	}
	got, _ := events(t, line(1, "c2s", `{"id":1,"method":"ping"}`, `{"exchange":"a"}`)+line(2, "c2s", `{"id":1,"method":"tools/list"}`, `{"exchange":"b"}`)+
		line(3, "s2c", `{"id":1,"result":{"tools":[]}}`, `{"exchange":"b"}`)+line(4, "s2c", `{"id":1,"result":{}}`, `{"exchange":"a"}`)+
		line(5, "s2c", `null`, `{"exchange":"a","exchange_end":true}`)+line(6, "s2c", `{"id":2,"result":{}}`, `{"loss":true}`))
	want := []string{"1 request ping", "2 request tools/list", "3 response to 2 tools/list", "4 response to 1 ping", "6 unparsed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// facts are what of a State a test compares.
type facts struct {
	Tools                                                string
	First, Modern, Initialized, Requested, Expired, Head bool
	Server, Protocol                                     string
}

func TestState(t *testing.T) {
	hello := []string{`c {"id":0,"method":"initialize","params":{"capabilities":{"roots":{}}}}`,
		`s {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"},"instructions":"i"}}`, `c {"method":"notifications/initialized"}`}
	legacy := facts{First: true, Initialized: true, Requested: true, Server: "n", Protocol: "2025-11-25"}
	with := func(change func(*facts)) facts { f := legacy; change(&f); return f }
	for _, c := range []struct {
		name  string
		lines []string
		want  facts
	}{
		{"pages are merged", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}],"nextCursor":"x"}}`, `c {"id":2,"method":"tools/list","params":{"cursor":"x"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`},
			with(func(f *facts) { f.Tools = "a b" })},
		{"a page alone is nothing", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}],"nextCursor":"x"}}`},
			with(func(f *facts) { f.Tools, f.First = "unknown", false })},
		{"another cursor", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}],"nextCursor":"x"}}`, `c {"id":2,"method":"tools/list","params":{"cursor":"y"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`},
			with(func(f *facts) { f.Tools, f.First = "unknown", false })},
		{"the newest counts", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}]}}`, `c {"id":2,"method":"tools/list"}`, `s {"id":2,"result":{"tools":[]}}`},
			with(func(f *facts) { f.Tools = "" })},
		{"an entry without a name proves nothing", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"},{}]}}`},
			with(func(f *facts) { f.Tools, f.First = "unknown", false })},
		{"a notice of change", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}]}}`, `s {"method":"notifications/tools/list_changed"}`},
			with(func(f *facts) { f.Tools = "unknown" })},
		{"a promise of a second", []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}],"ttlMs":1000}}`, `c {"id":3,"method":"ping"}`, `c {"id":4,"method":"ping"}`, `c {"id":5,"method":"ping"}`},
			with(func(f *facts) { f.Tools, f.Expired = "unknown", true })},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, r := events(t, logOf(1, append(hello, c.lines...)...))
			if diff := cmp.Diff(c.want, factsOf(r.State)); diff != "" {
				t.Error(diff)
			}
			if !r.State.Granted["roots"] || r.State.Granted["sampling"] || r.State.Instructions != "i" || !r.State.Capabilities["tools"] {
				t.Errorf("the handshake was not read: %+v", r.State)
			}
		})
	}
}

func TestModernEra(t *testing.T) {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	_, r := events(t, logOf(1, `c {"id":1,"method":"server/discover","params":{`+meta+`}}`,
		`s {"id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"2"}}}}`,
		`c {"id":2,"method":"tools/list","params":{`+meta+`}}`, `s {"id":2,"result":{"tools":[{"name":"a"}],"ttlMs":600000}}`))
	want := facts{Tools: "a", First: true, Modern: true, Requested: true, Server: "n", Protocol: "2026-07-28"}
	if diff := cmp.Diff(want, factsOf(r.State)); diff != "" || !r.State.Granted["elicitation"] {
		t.Errorf("%s\n%v", diff, r.State.Granted)
	}
}

func factsOf(s *wire.State) facts {
	f := facts{First: s.First != nil, Modern: s.Modern, Initialized: s.Initialized, Requested: s.ListRequested, Expired: s.Expired, Head: s.HeadMissing, Server: s.Server.Name, Protocol: s.Protocol, Tools: "unknown"}
	if s.Surface != nil {
		f.Tools = strings.Join(s.Surface.Names, " ")
	}
	return f
}

func TestChangesWithinASession(t *testing.T) {
	log := logOf(1, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a","description":"x"},{"name":"b"}]}}`,
		`c {"id":2,"method":"tools/list"}`, `s {"id":2,"result":{"tools":[{"name":"c"},{"description":"y","name":"a"}]}}`)
	r := NewReader(strings.NewReader(log))
	for {
		e, err := r.Next()
		if err != nil {
			break
		}
		if e.Seq == 4 {
			if got := fmt.Sprint(r.State.Declared, r.State.Delta, r.State.Redeclared); got != "true [b c] [a]" {
				t.Errorf("got %s", got)
			}
			return
		}
		if len(r.State.Delta)+len(r.State.Redeclared) > 0 {
			t.Errorf("seq %d: a change before any", e.Seq)
		}
	}
	t.Error("the second list was not seen")
}

func TestDamage(t *testing.T) {
	log := "banner\n" + logOf(1, `c {"id":1,"method":"ping"}`) + "\n" + `{"seq":2,"dir":"s2c","frame":{"id":1,"res`
	got, r := events(t, log)
	if len(got) != 1 || r.Stats.Unreadable != 1 || !r.Stats.Torn || !strings.HasPrefix(r.Stats.FirstUnreadable, "line 1:") || r.Stats.HeadMissing {
		t.Errorf("%v, %+v", got, r.Stats)
	}
}

func FuzzReader(f *testing.F) {
	f.Add([]byte(logOf(1, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"}],"ttlMs":5}}`, `s [{"id":1},{}]`)))
	f.Add([]byte(`{"seq":1,"dir":"c2s","frame":{"id":{},"method":3},"gate":{"action":7},"http_observation":{"loss":1}}` + "\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(strings.NewReader(string(in)))
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if e.Kind == wire.Response && e.Asked != nil && e.Asked.Seq > 0 && e.Method != e.Asked.Method {
				t.Fatalf("%+v", e)
			}
		}
	})
}
