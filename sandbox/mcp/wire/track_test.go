package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// heard are the things that a test says of what a Tracker made of a message.
func heard(s *Seen, st *State) string {
	out := []string{s.Method}
	add := func(when bool, what string) {
		if when {
			out = append(out, what)
		}
	}
	add(s.Asked != nil, "asked")
	add(s.Ambiguous, "ambiguous")
	add(s.Orphan, "orphan")
	add(s.Args != nil, "args "+string(s.Args))
	add(s.Introduction != nil, "introduction")
	add(s.Page != nil, "page")
	if l := s.Listing; l != nil {
		add(true, fmt.Sprintf("%d of %s", l.Len(), l.List.Method()))
		add(l.Complete, "complete")
		add(l.Cut != "", "cut at "+string(l.Cut))
	}
	add(st.Declared, "declared")
	add(len(st.Delta) > 0, "delta "+strings.Join(st.Delta, "+"))
	add(len(st.Redeclared) > 0, "redeclared "+strings.Join(st.Redeclared, "+"))
	return strings.TrimSpace(strings.Join(out, " "))
}

// talk feeds lines "c MESSAGE" and "s MESSAGE", a second apart.
func talk(t testing.TB, track *Tracker, lines ...string) (out []string) {
	t.Helper()
	for i, l := range lines {
		messages, err := Parse([]byte(strings.Replace(l[2:], "{", `{"jsonrpc":"2.0",`, 1)))
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		for _, m := range messages {
			c := m.Crossing(l[0] == 's')
			c.Seq, c.At = uint64(i+1), time.Unix(int64(1000+i), 0)
			out = append(out, heard(track.Feed(&c), track.State))
		}
	}
	return out
}

func TestTracker(t *testing.T) {
	first := []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"b"}],"nextCursor":"x"}}`}
	for _, tt := range []struct {
		name  string
		o     Options
		lines []string
		want  []string // what is made of the last lines
	}{
		{"a call", Options{}, []string{`c {"id":1,"method":"tools/call","params":{"name":"a","arguments":{"x":1}}}`, `s {"id":1,"result":{}}`}, []string{`tools/call asked args {"x":1}`, "tools/call asked"}},
		{"each direction counts its own ids", Options{}, []string{`c {"id":1,"method":"tools/call"}`, `s {"id":1,"method":"ping"}`, `c {"id":1,"result":{}}`, `s {"id":1,"error":{"code":1,"message":""}}`},
			[]string{"tools/call asked", "ping asked", "ping asked", "tools/call asked"}},
		{"a second answer", Options{}, []string{`c {"id":1,"method":"ping"}`, `s {"id":1,"result":{}}`, `s {"id":1,"result":{}}`}, []string{"orphan"}},
		{"an id in use", Options{}, []string{`c {"id":1,"method":"ping"}`, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{}}`}, []string{"tools/list asked ambiguous", "orphan"}},
		{"the newest of an id", Options{Generous: true}, []string{`c {"id":1,"method":"ping"}`, `c {"id":1,"method":"roots/list"}`, `s {"id":1,"result":{}}`}, []string{"roots/list asked", "roots/list asked"}},
		{"an id of another type", Options{}, []string{`c {"id":1,"method":"ping"}`, `s {"id":"1","result":{}}`}, []string{"orphan"}},
		{"the same id to some", Options{Generous: true}, []string{`c {"id":1,"method":"ping"}`, `s {"id":"10e-1","result":{}}`}, []string{"ping asked"}},
		{"null answers nothing", Options{}, []string{`s {"id":null,"error":{"code":1,"message":""}}`}, []string{""}},
		{"a call that wants no answer", Options{}, []string{`c {"method":"tools/call","params":{"name":"a"}}`}, []string{"tools/call asked"}},
		{"initialize", Options{}, []string{`c {"id":0,"method":"initialize"}`, `s {"id":0,"result":{"protocolVersion":"2025-11-25"}}`}, []string{"initialize asked introduction"}},
		{"initialize refused", Options{}, []string{`c {"id":0,"method":"initialize"}`, `s {"id":0,"error":{"code":1,"message":""}}`}, []string{"initialize asked"}},
		{"pages", Options{}, append(slices.Clone(first), `c {"id":2,"method":"tools/list","params":{"cursor":"x"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`),
			[]string{"tools/list asked", "tools/list asked page 2 of tools/list complete declared"}},
		{"another cursor", Options{}, append(slices.Clone(first), `c {"id":2,"method":"tools/list","params":{"cursor":"y"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`), []string{"tools/list asked page"}},
		{"another cursor, loosely", Options{Loose: true}, append(slices.Clone(first), `c {"id":2,"method":"tools/list","params":{"cursor":"y"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`), []string{"tools/list asked page"}},
		{"a notice between pages", Options{}, append(slices.Clone(first), `s {"method":"notifications/tools/list_changed"}`, `c {"id":2,"method":"tools/list","params":{"cursor":"x"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`), []string{"tools/list asked page"}},
		{"a notice between pages, loosely", Options{Loose: true}, append(slices.Clone(first), `s {"method":"notifications/tools/list_changed"}`, `c {"id":2,"method":"tools/list","params":{"cursor":"x"}}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`),
			[]string{"tools/list asked page 2 of tools/list complete declared"}},
		{"an entry without a name", Options{}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"},{}]}}`}, []string{"tools/list asked page"}},
		{"an entry without a name, loosely", Options{Loose: true}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"},{}]}}`}, []string{"tools/list asked page 1 of tools/list complete declared"}},
		{"nothing that can be read", Options{Loose: true}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":[]}`}, []string{"tools/list asked page"}},
		{"a later listing", Options{}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a","title":"x"},{"name":"b"}]}}`, `c {"id":2,"method":"tools/list"}`, `s {"id":2,"result":{"tools":[{"title":"y","name":"a"},{"name":"c"}]}}`},
			[]string{"tools/list asked page 2 of tools/list complete declared delta b+c redeclared a"}},
		{"the same listing", Options{}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"}]}}`, `c {"id":2,"method":"tools/list"}`, `s {"id":2,"result":{"tools":[{"name":"a"}]}}`},
			[]string{"tools/list asked page 1 of tools/list complete declared"}},
		{"other lists", Options{}, []string{`c {"id":1,"method":"prompts/list"}`, `s {"id":1,"result":{"prompts":[{"name":"a"}],"nextCursor":"x"}}`, `c {"id":2,"method":"resources/list"}`, `s {"id":2,"result":{"resources":[{"uri":"a"}]}}`},
			[]string{"prompts/list asked page 1 of prompts/list", "resources/list asked", "resources/list asked page 1 of resources/list complete"}},
		{"too many entries", Options{Loose: true, Bounds: Bounds{Entries: 1}}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"},{"name":"b"}]}}`}, []string{"tools/list asked page 1 of tools/list cut at entries"}},
		{"too many pages", Options{Loose: true, Bounds: Bounds{Pages: 1}}, first, []string{"tools/list asked page 1 of tools/list cut at pages"}},
		{"too many bytes", Options{Loose: true, Bounds: Bounds{Bytes: 10}}, first, []string{"tools/list asked page 1 of tools/list cut at bytes"}},
		{"a cursor too long", Options{Loose: true, Bounds: Bounds{Cursor: 3}}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[],"nextCursor":"long"}}`}, []string{"tools/list asked page 0 of tools/list cut at cursor"}},
		{"no proof beyond a bound", Options{Bounds: Bounds{Entries: 1}}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"},{"name":"b"}]}}`}, []string{"tools/list asked page"}},
		{"a promise that has passed", Options{}, []string{`c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[],"ttlMs":-1}}`}, []string{"tools/list asked page"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := talk(t, NewTracker(tt.o), tt.lines...)
			if diff := cmp.Diff(tt.want, got[max(0, len(got)-len(tt.want)):]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestStateOfASession(t *testing.T) {
	track := NewTracker(Options{})
	talk(t, track, `c {"id":0,"method":"initialize","params":{"capabilities":{"roots":{},"sampling":null}}}`,
		`s {"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","title":"t","version":"1"},"instructions":"i"}}`,
		`c {"method":"notifications/initialized"}`, `c {"id":1,"method":"tools/list"}`, `s {"id":1,"result":{"tools":[{"name":"a"}]}}`)
	s := track.State
	if got := fmt.Sprintf("%v %v %v %v %v %v %v %v %v %v", s.Granted, s.Capabilities, s.Server, s.Protocol, s.Instructions, s.Initialized, s.Modern, s.ListRequested, s.Surface.Names, s.Stale()); got != "map[roots:true] map[tools:true] {n t 1 } 2025-11-25 i true false true [a] false" {
		t.Error(got)
	}
	talk(t, track, `s {"method":"notifications/tools/list_changed"}`)
	if s.Surface != nil || s.Last == nil || !s.Stale() {
		t.Errorf("after a notice: %+v", s)
	}
	track.Forget()
	if got := talk(t, track, `s {"id":7,"result":{}}`); got[0] != "" || s.Last != nil || !s.HeadMissing {
		t.Errorf("after a loss: %q, %+v", got, s)
	}
}

func TestModernSession(t *testing.T) {
	track := NewTracker(Options{})
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}}`
	talk(t, track, `c {"id":1,"method":"server/discover","params":{`+meta+`}}`,
		`s {"id":1,"result":{"supportedVersions":["2026-07-28","2027-01-01"],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":"2"}}}}`)
	if s := track.State; !s.Modern || !s.Granted["elicitation"] || s.Protocol != "2026-07-28" || s.Server.Version != "2" || string(s.ServerInfo) != `{"name":"n","version":"2"}` {
		t.Errorf("%+v", s)
	}
}

func TestReadIntroduction(t *testing.T) {
	for _, tt := range []struct {
		in, server, version, instructions string
		ok                                bool
	}{
		{`{"protocolVersion":"1","serverInfo":{"name":"a"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}}}`, "a", "1", "", true},
		{`{"supportedVersions":["2","3"],"serverInfo":{},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}}}`, "b", "2", "", true},
		{`{"protocolVersion":7,"supportedVersions":[1,"2"],"serverInfo":"x","instructions":[]}`, "", "2", "[]", true},
		{`{"ProtocolVersion":"1","instructions":null}`, "", "", "", true},
		{`null`, "", "", "", false},
		{`[]`, "", "", "", false},
		{`{`, "", "", "", false},
		{``, "", "", "", false},
	} {
		in, ok := ReadIntroduction(json.RawMessage(tt.in))
		if ok != tt.ok || ok && (in.Server.Name != tt.server || in.Version() != tt.version || string(in.RawInstructions) != tt.instructions) {
			t.Errorf("%s: %+v, %v", tt.in, in, ok)
		}
	}
}

func TestSince(t *testing.T) {
	set := func(list string) *Toolset {
		tools, _, _ := ParseTools(json.RawMessage(`{"tools":[` + list + `]}`))
		return NewToolset(1, tools)
	}
	for _, tt := range []struct{ before, now, want string }{
		{`{"name":"a"}`, `{"name":"a"}`, "[]"},
		{`{"name":"a","title":"x"}`, `{ "title":"x", "name":"a"}`, "[]"},
		{`{"name":"b"},{"name":"a","x":1.0}`, `{"name":"c"},{"name":"a","x":1},{"name":"A"}`, "[{b disappeared} {a redeclared} {c appeared} {A appeared}]"},
		{`{"name":"a","x":1},{"name":"a","x":2}`, `{"name":"a","x":2}`, "[]"},
		{``, `{"name":"a","x":1},{"name":"a","x":2}`, "[{a appeared}]"},
	} {
		if got := fmt.Sprint(set(tt.now).Since(set(tt.before))); got != tt.want {
			t.Errorf("from %s to %s: %s", tt.before, tt.now, got)
		}
	}
}

func TestIDNumber(t *testing.T) {
	for in, want := range map[string]string{
		`7`: "7,true,true", `"7"`: "7,false,true", `7.0`: "7,false,true", `70e-1`: "7,false,true", `-1`: "-1,true,true", `"\u0037"`: "7,false,true",
		`7.5`: "0,false,false", `"x"`: "0,false,false", `null`: "0,false,false", `"0x7"`: "0,false,false", `1e300`: "0,false,false", `{}`: "0,false,false", ``: "0,false,false",
	} {
		n, exact, ok := IDNumber(json.RawMessage(in))
		if got := fmt.Sprintf("%d,%t,%t", n, exact, ok); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Ten times what is remembered of open requests passes in bounded memory, and
// makes no orphans of what was forgotten.
func TestManyOpenRequests(t *testing.T) {
	for _, generous := range []bool{false, true} {
		p := newPairs(100, generous)
		for i := range 1000 {
			p.request(fmt.Appendf(nil, "%d", i), "", Asked{Seq: uint64(i)})
		}
		kept, gone := "5", "995"
		if generous {
			kept, gone = gone, kept
		}
		if len(p.open) > 100 || len(p.order) > 200 || p.full == generous {
			t.Errorf("%d are open, %d in order, full %v", len(p.open), len(p.order), p.full)
		}
		if a, _ := p.response([]byte(kept), ""); a == nil || fmt.Sprint(a.Seq) != kept {
			t.Errorf("%s: %+v", kept, a)
		}
		if a, known := p.response([]byte(gone), ""); a != nil || !known {
			t.Errorf("%s: %+v", gone, a)
		}
	}
}

// Answers that come one for each request leave nothing behind.
func TestAnsweredRequestsAreForgotten(t *testing.T) {
	p := newPairs(100, true)
	for i := range 10_000 {
		id := fmt.Appendf(nil, "%d", i)
		p.request(id, "", Asked{})
		p.response(id, "")
	}
	if len(p.open) > 0 || len(p.order) > 100 || len(p.free) > 2 {
		t.Errorf("%d are open, %d in order, %d to reuse", len(p.open), len(p.order), len(p.free))
	}
}

// Beside a session, an exchange has ids of its own and says the same of the server.
func TestBeside(t *testing.T) {
	track := NewTracker(Options{Generous: true, Loose: true})
	a, b := track.Fork(), track.Fork()
	talk(t, a, `c {"id":1,"method":"tools/list"}`)
	talk(t, b, `c {"id":1,"method":"ping"}`)
	if got := talk(t, b, `s {"id":1,"result":{}}`); got[0] != "ping asked" {
		t.Error(got)
	}
	talk(t, a, `s {"id":1,"result":{"tools":[{"name":"x"}]}}`)
	if !track.State.Surface.Has("x") {
		t.Error("what an exchange heard is not the session's")
	}
}

// within checks that a Tracker keeps no more than its bounds say.
func within(t interface{ Fatalf(string, ...any) }, track *Tracker) {
	b := track.opts.Bounds
	for _, p := range []*pairs{track.client, track.refused, track.server} {
		if len(p.open) > b.Pending || len(p.ambiguous) > maxAmbiguous || len(p.free) > b.Pending+1 || len(p.order) > 2*b.Pending+65 {
			t.Fatalf("%d open, %d ambiguous, %d to reuse, %d in order", len(p.open), len(p.ambiguous), len(p.free), len(p.order))
		}
	}
	for l := range track.State.pages {
		if p := &track.State.pages[l]; p.Entries.Len() > b.Entries || p.count > b.Pages || p.Over == "" && (p.size > b.Bytes || len(p.next) > b.Cursor) {
			t.Fatalf("%s: %d entries, %d pages, %d bytes, cursor %q", List(l).Method(), p.Entries.Len(), p.count, p.size, p.next)
		}
	}
	s := track.State
	if s.Surface != nil && (len(s.Surface.List) > b.Entries || len(s.Surface.Names) > len(s.Surface.List)) || len(track.tools) > b.Entries || len(s.Limits) > 8 || len(s.Granted) > maxNames {
		t.Fatalf("%+v", s)
	}
}

// TestAnyInterleaving feeds whatever two sides may say in whatever order.
func TestAnyInterleaving(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := []string{"", "1", "2", `"1"`, "1.0", "null", "{}", `"` + strings.Repeat("x", 2000) + `"`}
		methods := []string{"", "ping", MethodCall, MethodInitialize, MethodInitialized, MethodDiscover, NoteToolsChanged, "tools/list", "resources/list", "resources/templates/list", "prompts/list", strings.Repeat("m", 2000)}
		params := []string{"", "{}", `{"cursor":"a"}`, `{"cursor":"b"}`, `{"cursor":7}`, `{"cursor":"long cursor"}`, `{"name":"x","arguments":[]}`, "null", "{",
			`{"capabilities":{"roots":{}},"_meta":{"io.modelcontextprotocol/protocolVersion":"1","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}`}
		results := []string{"", "{}", "null", "[]", "{", `{"tools":[{"name":"a"},{"name":"b"}],"nextCursor":"a"}`, `{"tools":[{"name":"c"}],"nextCursor":"b","ttlMs":1}`, `{"tools":[{"name":"a","x":1}]}`,
			`{"tools":[{}],"nextCursor":"a"}`, `{"tools":[1,2,3,4,5]}`, `{"prompts":[{"name":"a"}],"nextCursor":"a"}`, `{"resources":[{"uri":"a"}],"nextCursor":"long cursor"}`,
			`{"serverInfo":{"name":"s"},"supportedVersions":["1"],"capabilities":{"tools":{}},"instructions":"i"}`}
		track := NewTracker(Options{Generous: rapid.Bool().Draw(t, "generous"), Loose: rapid.Bool().Draw(t, "loose"),
			Bounds: Bounds{Pending: 3, Entries: 4, Pages: 3, Bytes: 120, Cursor: 5, Name: 4}})
		trackers := []*Tracker{track, track.Fork()}
		raw := func(list []string, label string) json.RawMessage {
			if s := rapid.SampledFrom(list).Draw(t, label); s != "" {
				return json.RawMessage(s)
			}
			return nil
		}
		for range rapid.IntRange(1, 60).Draw(t, "messages") {
			tr := rapid.SampledFrom(trackers).Draw(t, "tracker")
			switch rapid.IntRange(0, 40).Draw(t, "other") {
			case 0:
				tr.Forget()
			case 1:
				tr.Gap()
			case 2:
				tr.Abandon()
			case 3:
				tr.End("x")
			}
			c := Crossing{
				Kind: Kind(rapid.IntRange(0, 3).Draw(t, "kind")), Server: rapid.Bool().Draw(t, "server"), At: time.Unix(int64(rapid.IntRange(0, 9).Draw(t, "at")), 0),
				ID: raw(ids, "id"), Params: raw(params, "params"), Result: raw(results, "result"), Failed: rapid.Bool().Draw(t, "failed"),
				Refused: rapid.Bool().Draw(t, "refused"), Exchange: rapid.SampledFrom([]string{"", "x"}).Draw(t, "exchange"),
			}
			if c.Kind != Response {
				c.Method = rapid.SampledFrom(methods).Draw(t, "method")
			}
			seen := tr.Feed(&c)
			if seen.Orphan && seen.Asked != nil || c.Kind == Response && seen.Asked != nil && seen.Method != seen.Asked.Method {
				t.Fatalf("%+v of %+v", seen, c)
			}
			if l := seen.Listing; l != nil && (l.Complete && l.Cut != "" || l.Len() > 4) {
				t.Fatalf("%+v of %+v", l, c)
			}
			within(t, tr)
		}
	})
}

func FuzzTracker(f *testing.F) {
	f.Add([]byte("c{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\ns{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"a\"}],\"nextCursor\":\"x\"}}\nc{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}}\ns{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}"), true)
	f.Add([]byte("c{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\ns{\"jsonrpc\":\"2.0\",\"id\":\"0\",\"result\":{\"serverInfo\":{\"name\":\"s\"}}}\ns{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}"), false)
	f.Fuzz(func(t *testing.T, in []byte, generous bool) {
		track := NewTracker(Options{Generous: generous, Loose: generous, Bounds: Bounds{Pending: 2, Entries: 3, Pages: 2, Bytes: 1 << 10, Cursor: 8, Name: 8}})
		for line := range strings.Lines(string(in)) {
			messages, _ := Parse([]byte(line[1:]))
			for i := range messages {
				c := messages[i].Crossing(line[0] == 's')
				track.Feed(&c)
				within(t, track)
			}
		}
	})
}
