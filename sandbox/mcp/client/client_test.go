package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

func connect(t *testing.T, p *peer) *wire.Surface {
	t.Helper()
	s, err := p.c.Connect(t.Context())
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	return s
}

func methods(p *peer) string {
	var out []string
	for _, r := range p.requests("*") {
		out = append(out, r.Method)
	}
	return strings.Join(out, " ")
}

func TestEras(t *testing.T) {
	both := modern(map[string]func(*peer, request){methodInitialize: oldInit})
	for _, tc := range []struct {
		name             string
		on               map[string]func(*peer, request)
		opts             Options
		protocol, server string
		methods, notices string
		meta             bool
	}{
		{"legacy", legacy(nil), patient, "2025-06-18", "old", "server/discover initialize notifications/initialized", "", false},
		{"legacy, invalid params", legacy(map[string]func(*peer, request){methodDiscover: fail(-32602, "Invalid request parameters")}), patient,
			"2025-06-18", "old", "server/discover initialize notifications/initialized", "", false},
		{"modern", modern(nil), patient, "2026-07-28", "new", "server/discover", "", true},
		{"both", both, patient, "2026-07-28", "new", "server/discover", "", true},
		{"both, discover skipped", both, Options{SkipDiscover: true}, "2025-06-18", "old", "initialize notifications/initialized", "", false},
		{"ignores discover", legacy(map[string]func(*peer, request){methodDiscover: silent}), short,
			"2025-06-18", "old", "server/discover initialize notifications/initialized", "handshake", false},
		{"discover without versions", legacy(map[string]func(*peer, request){methodDiscover: give(`{"ok":true}`)}), patient,
			"2025-06-18", "old", "server/discover initialize notifications/initialized", "", false},
		{"discover null", legacy(map[string]func(*peer, request){methodDiscover: give(`null`)}), patient,
			"2025-06-18", "old", "server/discover initialize notifications/initialized", "", false},
		{"a version unknown to the SDK", legacy(map[string]func(*peer, request){methodInitialize: give(`{"protocolVersion":"2024-10-07","capabilities":{},"serverInfo":{"name":"ancient","version":"0"}}`)}), patient,
			"2024-10-07", "ancient", "server/discover initialize notifications/initialized", "handshake", false},
		{"members of the wrong type", legacy(map[string]func(*peer, request){methodInitialize: give(`{"protocolVersion":"2025-03-26","capabilities":[],"instructions":7,"serverInfo":{"name":"odd"}}`)}), patient,
			"2025-03-26", "odd", "server/discover initialize notifications/initialized", "handshake", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			p := newPeer(tc.opts, tc.on)
			s := connect(t, p)
			if s.Protocol != tc.protocol || s.Server.Name != tc.server {
				t.Errorf("got protocol %q, server %+v", s.Protocol, s.Server)
			}
			eventually(t, "the notification arrives", func() bool { return methods(p) == tc.methods })
			if kinds(p.c) != tc.notices {
				t.Errorf("notices: %+v", p.c.Notices())
			}
			if err := p.c.List(t.Context(), s); err != nil || len(s.Tools) != 1 {
				t.Fatalf("List: %v, %d tools", err, len(s.Tools))
			}
			if a := s.Tools[0].Annotations; a == nil || a.ReadOnly == nil || *a.ReadOnly || a.Destructive != nil {
				t.Errorf("annotations: %+v", a)
			}
			if meta := strings.Contains(string(p.requests("tools/list")[0].Params), `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`); meta != tc.meta {
				t.Errorf("params: %s", p.requests("tools/list")[0].Params)
			}
		})
	}
}

func TestIntroduction(t *testing.T) {
	p := newPeer(patient, legacy(nil))
	s := connect(t, p)
	want := `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}}`
	var got, expected any
	raw := p.requests(methodInitialize)[0].Params
	if json.Unmarshal(raw, &got) != nil || json.Unmarshal([]byte(want), &expected) != nil || fmt.Sprint(got) != fmt.Sprint(expected) {
		t.Errorf("initialize: %s", raw)
	}
	if s.Instructions != "be kind" || s.Server.Title != "Old" || string(s.Capabilities) != `{"tools":{}}` {
		t.Errorf("surface: %+v", s)
	}
	for _, r := range p.requests("*") {
		for _, word := range []string{"coalmine", "canary", "probe", "sandbox", "trace", "go-sdk"} {
			if strings.Contains(strings.ToLower(string(r.Params)), word) {
				t.Errorf("%s says %q: %s", r.Method, word, r.Params)
			}
		}
	}
}

func TestHandshakeFailures(t *testing.T) {
	quick := patient
	quick.HandshakeTimeout, quick.DiscoverTimeout = 500*time.Millisecond, 100*time.Millisecond
	end := func(p *peer, _ request) { p.c.Closed(io.EOF) }
	for _, tc := range []struct {
		name string
		on   map[string]func(*peer, request)
		is   []error
		says string
	}{
		{"never answers", map[string]func(*peer, request){}, []error{ErrTimeout}, "handshake: no answer in time (500ms)"},
		{"ends at discover", map[string]func(*peer, request){methodDiscover: end}, []error{ErrClosed, ErrEndedAtDiscover, io.EOF}, "ended at server/discover"},
		{"starts slowly and ends at discover", map[string]func(*peer, request){methodDiscover: func(*peer, request) {}, methodInitialize: end}, []error{ErrClosed, ErrEndedAtDiscover, io.EOF}, "ended at server/discover"},
		{"does not know discover, and ends at discover", map[string]func(*peer, request){methodInitialize: end, "": unknown}, []error{ErrClosed, ErrEndedAtDiscover, io.EOF}, "ended at server/discover"},
		{"refuses initialize, and ends", map[string]func(*peer, request){"": func(p *peer, r request) {
			fail(-32000, "go away")(p, r)
			if r.Method == methodInitialize {
				end(p, r)
			}
		}}, nil, "go away"},
		{"refuses both", map[string]func(*peer, request){"": fail(-32000, "go away")}, nil, "go away"},
		{"null", map[string]func(*peer, request){"": give(`null`)}, nil, "handshake"},
		{"an array", map[string]func(*peer, request){"": give(`[[[]]]`)}, nil, "handshake"},
		{"no version", map[string]func(*peer, request){"": give(`{}`)}, nil, "handshake"},
		{"a version without end", map[string]func(*peer, request){"": give(`{"protocolVersion":"` + strings.Repeat("9", 100) + `"}`)}, nil, "handshake"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			p := newPeer(quick, tc.on)
			start := time.Now()
			_, err := p.c.Connect(t.Context())
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("got %v", err)
			}
			for _, is := range tc.is {
				if !errors.Is(err, is) {
					t.Errorf("%v is not %v", err, is)
				}
			}
			if errors.Is(err, ErrEndedAtDiscover) != strings.HasSuffix(tc.name, "ends at discover") {
				t.Errorf("got %v", err)
			}
			if time.Since(start) > 5*time.Second {
				t.Errorf("took %s", time.Since(start))
			}
		})
	}
}

// A server that starts slowly and knows the modern era only refuses initialize
// after it has answered server/discover too late.
func TestLateDiscover(t *testing.T) {
	noLeaks(t)
	var first request
	p := newPeer(short, modern(map[string]func(*peer, request){
		methodDiscover: func(p *peer, r request) {
			if first.ID == nil {
				first = r
				return
			}
			newInit(p, r)
		},
		methodInitialize: func(p *peer, r request) {
			newInit(p, first)
			unknown(p, r)
		},
	}))
	if s := connect(t, p); s.Protocol != "2026-07-28" {
		t.Errorf("got %+v", s)
	}
	if got := kinds(p.c); got != "handshake late-answer handshake" {
		t.Errorf("notices: %s", got)
	}
}

// A late answer to server/discover is swallowed when the older era is in use.
func TestLateDiscoverIsSwallowed(t *testing.T) {
	var late request
	p := newPeer(short, legacy(map[string]func(*peer, request){
		methodDiscover: func(_ *peer, r request) { late = r },
		"tools/list": func(p *peer, r request) {
			newInit(p, late)
			oneTool(p, r)
		},
	}))
	s := connect(t, p)
	if err := p.c.List(t.Context(), s); err != nil || len(s.Tools) != 1 || s.Protocol != "2025-06-18" {
		t.Fatalf("%v %+v", err, s)
	}
	if got := kinds(p.c); got != "handshake late-answer" {
		t.Errorf("notices: %s", got)
	}
}

func TestConnectHonoursContext(t *testing.T) {
	noLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	p := newPeer(Options{}, map[string]func(*peer, request){methodDiscover: func(*peer, request) { cancel() }})
	if _, err := p.c.Connect(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestHostileLines(t *testing.T) {
	on := legacy(map[string]func(*peer, request){
		"tools/call": func(p *peer, r request) {
			p.feed("Server running on stdio")
			p.feed("")
			p.feed("\x1b[31mred\x1b[0m \xff\xfe")
			p.feed(`{"jsonrpc":"2.0","id":%s,"resu`, r.ID)
			p.feed(`{"jsonrpc":"2.0","id":4711,"result":{}}`)
			p.feed(`{"jsonrpc":"2.0","id":"abc","result":{}}`)
			p.feed(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
			p.feed(`{"jsonrpc":"2.0","id":{"a":1},"result":{}}`)
			p.feed(`{"jsonrpc":"2.0","id":1,"result":{}}`)
			p.feed(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},{"jsonrpc":"2.0","id":"%s","result":{"content":[],"isError":true}}]`, r.ID)
			p.feed(`{"jsonrpc":"2.0","id":%s,"result":{"content":["second"]}}`, r.ID)
			p.feed("%s", strings.Repeat("x", 1000))
		},
	})
	opts := patient
	opts.MaxLine = 999
	p := newPeer(opts, on)
	p.feed("Welcome!\r\n")
	connect(t, p)
	r, err := p.c.CallTool(t.Context(), "x", nil)
	if err != nil || !r.IsError || r.Err != nil || string(r.Raw) != `{"content":[],"isError":true}` {
		t.Fatalf("got %+v, %v", r, err)
	}
	want := strings.Repeat("bad-line ", 4) + strings.Repeat("unknown-id ", 2) + "null-id bad-line duplicate-id changed-id duplicate-id oversize-line"
	eventually(t, "all lines are fed", func() bool { return kinds(p.c) == want })
	if p.c.Counters().Logging != 1 {
		t.Errorf("counters: %+v", p.c.Counters())
	}
}

func TestBannerBeforeHandshake(t *testing.T) {
	p := newPeer(patient, legacy(map[string]func(*peer, request){
		methodInitialize: func(p *peer, r request) {
			p.feed("Secure MCP Filesystem Server running on stdio")
			oldInit(p, r)
		},
	}))
	connect(t, p)
	if kinds(p.c) != "bad-line" {
		t.Errorf("notices: %+v", p.c.Notices())
	}
}

func TestCall(t *testing.T) {
	for _, tc := range []struct {
		name    string
		answer  func(*peer, request)
		want    Result
		err     error
		notices string
	}{
		{"ok", give(`{"content":[]}`), Result{Raw: json.RawMessage(`{"content":[]}`)}, nil, ""},
		{"isError", give(`{"isError":true}`), Result{Raw: json.RawMessage(`{"isError":true}`), IsError: true}, nil, ""},
		{"isError of another type", give(`{"isError":"true"}`), Result{Raw: json.RawMessage(`{"isError":"true"}`)}, nil, ""},
		{"error", fail(-32602, "no such tool"), Result{Err: &wire.Error{Code: -32602, Message: "no such tool"}}, nil, ""},
		{"null", give(`null`), Result{Raw: json.RawMessage(`null`)}, nil, "bad-result"},
		{"a number", give(`3`), Result{Raw: json.RawMessage(`3`)}, nil, "bad-result"},
		{"input required", give(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"$ref":"#"}}}}}`),
			Result{Raw: json.RawMessage(`{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"$ref":"#"}}}}}`), InputRequired: true}, nil, "input-required"},
		{"silent", silent, Result{}, ErrTimeout, ""},
		{"closed", func(p *peer, _ request) { p.c.Closed(io.ErrUnexpectedEOF) }, Result{}, io.ErrUnexpectedEOF, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			opts := patient
			if errors.Is(tc.err, ErrTimeout) {
				opts = short
			}
			p := newPeer(opts, legacy(map[string]func(*peer, request){"tools/call": tc.answer}))
			connect(t, p)
			got, err := p.c.CallTool(t.Context(), "x", nil)
			if !errors.Is(err, tc.err) {
				t.Fatalf("got error %v", err)
			}
			a, _ := json.Marshal(got)
			b, _ := json.Marshal(tc.want)
			if string(a) != string(b) {
				t.Errorf("got %s, want %s", a, b)
			}
			if kinds(p.c) != tc.notices {
				t.Errorf("notices: %+v", p.c.Notices())
			}
			if errors.Is(tc.err, ErrTimeout) {
				eventually(t, "the cancellation arrives", func() bool { return len(p.requests("notifications/cancelled")) == 1 })
			}
		})
	}
}

func TestOddNamesAndArguments(t *testing.T) {
	p := newPeer(patient, legacy(map[string]func(*peer, request){"tools/call": give(`{}`)}))
	connect(t, p)
	for i, name := range []string{"", "a b", "\x1b[31m\u202e::set-output name=x::y", "<script>&", "line\nend\x00", "名前"} {
		if _, err := p.c.CallTool(t.Context(), name, json.RawMessage("{\"k\":\n[1,\"<&>\"]}")); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
		var got struct {
			Name      string
			Arguments json.RawMessage
		}
		raw := p.requests("tools/call")[i].Params
		if err := json.Unmarshal(raw, &got); err != nil || got.Name != name || string(got.Arguments) != `{"k":[1,"<&>"]}` {
			t.Errorf("%q went out as %s", name, raw)
		}
	}
	if _, err := p.c.CallTool(t.Context(), "x", json.RawMessage(`{"half`)); err == nil || errors.Is(err, ErrClosed) {
		t.Errorf("half a JSON value: %v", err)
	}
	if _, err := p.c.CallTool(t.Context(), "x", json.RawMessage(`[1]`)); err != nil {
		t.Errorf("arguments that are no object: %v", err)
	}
}

func TestOtherCalls(t *testing.T) {
	echo := func(p *peer, r request) { give(string(r.Params))(p, r) }
	p := newPeer(patient, modern(map[string]func(*peer, request){"resources/read": echo, "prompts/get": echo, "completion/complete": echo}))
	connect(t, p)
	ctx := t.Context()
	for name, tc := range map[string]struct {
		call func() (Result, error)
		want string
	}{
		"resource":            {func() (Result, error) { return p.c.ReadResource(ctx, "file:///a b") }, `{"uri":"file:///a b","_meta":`},
		"prompt":              {func() (Result, error) { return p.c.GetPrompt(ctx, "p", map[string]string{"a": "b"}) }, `{"name":"p","arguments":{"a":"b"},"_meta":`},
		"prompt without":      {func() (Result, error) { return p.c.GetPrompt(ctx, "p", nil) }, `{"name":"p","_meta":`},
		"completion":          {func() (Result, error) { return p.c.Complete(ctx, Completion{Prompt: "p"}, "a", "v") }, `{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":"v"},"_meta":`},
		"template completion": {func() (Result, error) { return p.c.Complete(ctx, Completion{Template: "u://{a}"}, "a", "v") }, `{"ref":{"type":"ref/resource","uri":"u://{a}"},"argument":{"name":"a","value":"v"},"_meta":`},
	} {
		if r, err := tc.call(); err != nil || !strings.HasPrefix(string(r.Raw), tc.want) {
			t.Errorf("%s: %s, %v", name, r.Raw, err)
		}
	}
}

func TestServerRequests(t *testing.T) {
	roots := patient
	roots.Roots = []Root{{URI: "file:///home/u/work", Name: "work"}}
	declines := patient
	declines.Declines = true
	model := patient
	model.Model = "Fine."
	for _, tc := range []struct {
		name, request, reply string
		opts                 Options
	}{
		{"a model", `"method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}`, `{"role":"assistant","content":{"type":"text","text":"Fine."},"model":"model","stopReason":"endTurn"}`, model},
		{"ping", `"method":"ping"`, `{}`, patient},
		{"sampling", `"method":"sampling/createMessage","params":{}`, `-32601`, patient},
		{"elicitation", `"method":"elicitation/create","params":{"message":"x","requestedSchema":{"type":"object","properties":{},"$ref":"#"}}`, `-32601`, patient},
		{"roots", `"method":"roots/list"`, `-32601`, patient},
		{"roots offered", `"method":"roots/list"`, `{"roots":[{"uri":"file:///home/u/work","name":"work"}]}`, roots},
		{"unknown", `"method":"evil/do"`, `-32601`, patient},
		{"sampling not offered", `"method":"sampling/createMessage","params":{}`, `-32601`, declines},
		{"elicitation declined", `"method":"elicitation/create","params":{"message":"x","requestedSchema":{"$ref":"#"}}`, `{"action":"decline"}`, declines},
		{"roots not offered", `"method":"roots/list"`, `-32601`, declines},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			p := newPeer(tc.opts, legacy(nil))
			connect(t, p)
			for _, id := range []string{`"s-1"`, `7`, `null`} {
				p.feed(`{"jsonrpc":"2.0","id":%s,%s}`, id, tc.request)
			}
			eventually(t, "the replies arrive", func() bool { return len(p.requests("")) == 2 })
			for i, id := range []string{`"s-1"`, `7`} {
				r := p.requests("")[i]
				if string(r.ID) != id || !strings.Contains(string(r.Result)+string(r.Error), tc.reply) {
					t.Errorf("reply: id %s result %s error %s", r.ID, r.Result, r.Error)
				}
			}
			kind := "answered"
			if tc.reply == "-32601" || tc.opts.Declines {
				kind = "declined"
			}
			if want := kind + " " + kind + " null-id"; kinds(p.c) != want {
				t.Errorf("notices: %+v", p.c.Notices())
			}
		})
	}
}

func TestNotificationsAreCounted(t *testing.T) {
	p := newPeer(patient, nil)
	for _, m := range []string{"progress", "progress", "message", "tools/list_changed", "resources/list_changed", "prompts/list_changed", "resources/updated", "cancelled", "unheard/of"} {
		p.feed(`{"jsonrpc":"2.0","method":"notifications/%s","params":{}}`, m)
	}
	n := p.c.Counters()
	n.Notices = nil
	if want := (Counters{Progress: 2, Logging: 1, ToolsChanged: 1, ResourcesChanged: 1, PromptsChanged: 1, ResourceUpdated: 1, Cancelled: 1, OtherNotices: 1}); fmt.Sprint(n) != fmt.Sprint(want) {
		t.Errorf("got %+v", n)
	}
}

func TestNoticesAreBounded(t *testing.T) {
	p := newPeer(patient, nil)
	for range 10_000 {
		p.feed("garbage")
	}
	p.feed(`{"jsonrpc":"2.0","id":%q,"result":{}}`, strings.Repeat("secret", 100))
	if n := p.c.Notices(); len(n) != maxNotices+1 || p.c.Counters().Notices[BadLine] != 10_000 {
		t.Errorf("%d kept, %+v", len(n), p.c.Counters())
	} else if text := n[maxNotices].Text; strings.Contains(text, "secret") {
		t.Errorf("a long text was repeated: %s", text)
	}
}

// A server that floods requests and reads nothing must block neither the
// feeding of its output nor a call beyond its time-out.
func TestServerThatDoesNotRead(t *testing.T) {
	noLeaks(t)
	stuck := make(chan struct{})
	c := New(func([]byte) error { <-stuck; return io.ErrClosedPipe }, short)
	for i := range 100_000 {
		c.Feed(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i))
	}
	if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, ErrTimeout) {
		t.Errorf("got %v", err)
	}
	if n := c.Counters().Notices; n[Answered] != 100_000 || n[Unsent] < 99_000 {
		t.Errorf("notices: %v", n)
	}
	var wg sync.WaitGroup
	for range maxQueued + 10 {
		wg.Go(func() { _, _ = c.CallTool(t.Context(), "x", nil) })
	}
	wg.Wait()
	if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, errBusy) {
		t.Errorf("got %v", err)
	}
	close(stuck)
	eventually(t, "the failure is known", func() bool { return c.ended() != nil })
	if _, err := c.CallTool(t.Context(), "x", nil); !errors.Is(err, ErrClosed) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

func TestClosedFailsAllPending(t *testing.T) {
	noLeaks(t)
	p := newPeer(Options{}, legacy(map[string]func(*peer, request){"tools/call": silent}))
	connect(t, p)
	const n = 50
	errs := make(chan error, n)
	for range n {
		go func() {
			_, err := p.c.CallTool(t.Context(), "x", nil)
			errs <- err
		}()
	}
	eventually(t, "all calls arrive", func() bool { return len(p.requests("tools/call")) == n })
	p.c.Closed(io.EOF)
	p.c.Closed(errors.New("another reason"))
	for range n {
		if err := <-errs; !errors.Is(err, ErrClosed) || err.Error() != "tools/call: the server closed the connection: EOF" {
			t.Errorf("got %v", err)
		}
	}
	p.feed(`{"jsonrpc":"2.0","id":3,"result":{}}`)
	if err := p.c.List(t.Context(), &wire.Surface{}); !errors.Is(err, ErrClosed) {
		t.Errorf("List: %v", err)
	}
}
