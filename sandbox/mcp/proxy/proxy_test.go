package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// proxied is a proxy in front of a server, with its logs.
type proxied struct {
	web   *httptest.Server
	URL   string
	dir   string
	proxy *Proxy
}

func start(t *testing.T, upstream string, g *gate.Gate) *proxied {
	t.Helper()
	u, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxied{dir: t.TempDir()}
	p.proxy, err = New(Options{Upstream: u, Gate: g, Shut: func(l *session.WireLog) { l.Close() }, Open: func(what string) *session.WireLog {
		l, err := session.NewWireLog(session.WireOptions{Dir: p.dir, What: what})
		if err != nil {
			t.Error(err)
		}
		return l
	}})
	if err != nil {
		t.Fatal(err)
	}
	p.web = httptest.NewServer(p.proxy)
	p.URL = p.web.URL
	return p
}

// frames closes the proxy and reads its logs, each a session.
func (p *proxied) frames(t *testing.T) map[string][]session.Frame {
	t.Helper()
	p.web.CloseClientConnections()
	p.web.Close()
	p.proxy.Close()
	names, err := filepath.Glob(filepath.Join(p.dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]session.Frame{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range session.ReadFrames(bytes.NewReader(data), nil) {
			if err != nil {
				t.Fatal(err)
			}
			out[name] = append(out[name], f)
		}
	}
	return out
}

type said struct {
	Text string `json:"text"`
}

// server declares one tool, which tells of its progress.
func server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo", Description: "says it"}, func(ctx context.Context, r *mcp.CallToolRequest, in said) (*mcp.CallToolResult, any, error) {
		for i := range 3 {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i)})
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	return s
}

// handlers are the same server on every transport.
func handlers() map[string]http.Handler {
	of := func(*http.Request) *mcp.Server { return server() }
	return map[string]http.Handler{
		"streamable":           mcp.NewStreamableHTTPHandler(of, nil),
		"streamable JSON":      mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{JSONResponse: true}),
		"streamable stateless": mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true}),
		"sse":                  mcp.NewSSEHandler(of, nil),
	}
}

// talkTo has a session with a server and says all that came of it.
func talkTo(t *testing.T, name, at string) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: at}
	if name == "sse" {
		transport = &mcp.SSEClientTransport{Endpoint: at}
	}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "c", Version: "1"}, nil).Connect(ctx, transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	out := []string{s.InitializeResult().ServerInfo.Name}
	tools, err := s.ListTools(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	out = append(out, tools.Tools[0].Name, tools.Tools[0].Description)
	for _, c := range []string{"echo", "rm_rf"} {
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: c, Arguments: said{strings.Repeat("ü", 1000)}})
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		out = append(out, r.Content[0].(*mcp.TextContent).Text)
	}
	return out
}

func TestEveryTransport(t *testing.T) {
	for name, h := range handlers() {
		t.Run(name, func(t *testing.T) {
			up := httptest.NewServer(h)
			defer up.Close()
			defer up.CloseClientConnections()
			want := talkTo(t, name, up.URL+"/mcp")
			p := start(t, up.URL, nil)
			if diff := cmp.Diff(want, talkTo(t, name, p.URL+"/mcp")); diff != "" {
				t.Error(diff)
			}
			logs := p.frames(t)
			methods := map[string]int{}
			for _, frames := range logs {
				for _, f := range frames {
					for _, m := range []string{"tools/list", "tools/call", `"tools": [{`, "notifications/progress"} {
						if f.Message != nil && strings.Contains(string(f.Message), m) {
							methods[m]++
						}
					}
				}
			}
			if methods["tools/list"] != 1 || methods["tools/call"] != 2 || methods[`"tools": [{`] != 1 {
				t.Errorf("the logs hold %v", methods)
			}
			if name != "streamable stateless" && len(logs) > 2 {
				t.Errorf("%d logs for one session", len(logs))
			}
		})
	}
}

func TestGateOnEveryTransport(t *testing.T) {
	for name, h := range handlers() {
		t.Run(name, func(t *testing.T) {
			up := httptest.NewServer(h)
			defer up.Close()
			defer up.CloseClientConnections()
			p := start(t, up.URL, gate.New(gate.Options{Closed: true}))
			got := talkTo(t, name, p.URL+"/mcp")
			if got[3] != strings.Repeat("ü", 1000) || !strings.Contains(got[4], "coalmine gate: tools/call 'rm_rf' blocked — not in the declared tool surface") {
				t.Errorf("the calls gave %q", got[3:])
			}
			var marks []string
			for _, frames := range p.frames(t) {
				for _, f := range frames {
					if f.Gate != nil {
						marks = append(marks, string(f.Dir)+" "+string(f.Gate))
					}
				}
			}
			slices.Sort(marks)
			if len(marks) != 2 || !strings.HasPrefix(marks[0], `c2s {"action": "blocked", "tool": "rm_rf", "declared": ["echo"]`) || !strings.HasPrefix(marks[1], `s2c {"action": "injected"`) {
				t.Errorf("marks %q", marks)
			}
		})
	}
}

// A stream's named events, ids and retry times are beside the frames, and
// every byte of it passes.
func TestNamedEvents(t *testing.T) {
	const stream = ": hello\r\nid: 1\r\ndata:\r\n\r\nevent: message\nid: 2\nretry: 10\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":1,\"result\":{}}\n\nevent: odd\ndata: no message\n\n"
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for _, h := range []string{"Mcp-Session-Id", "Last-Event-Id", "Mcp-Protocol-Version", "Authorization", "Mcp-Method", "Mcp-Name"} {
			w.Header().Set("Echo-"+h, r.Header.Get(h))
		}
		w.Header().Set("Echo-Body", string(body))
		w.Header().Set("Echo-Uri", r.RequestURI)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		io.WriteString(w, stream)
	}))
	defer up.Close()
	p := start(t, up.URL, nil)
	r, err := http.NewRequest(http.MethodPost, p.URL+"/a/b?x=%2F&y", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range []string{"Mcp-Session-Id", "Last-Event-Id", "Mcp-Protocol-Version", "Authorization", "Mcp-Method", "Mcp-Name"} {
		r.Header.Set(h, "the "+h)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	if string(got) != stream || err != nil {
		t.Errorf("the stream came as %q, %v", got, err)
	}
	for h := range r.Header {
		if v := answer.Header.Get("Echo-" + h); v != "the "+h {
			t.Errorf("%s arrived as %q", h, v)
		}
	}
	if answer.Header.Get("Echo-Body") != `{"jsonrpc":"2.0","id":1,"method":"ping"}` || answer.Header.Get("Echo-Uri") != "/a/b?x=%2F&y" {
		t.Errorf("the request arrived as %v", answer.Header)
	}
	var lines []string
	for _, frames := range p.frames(t) {
		for _, f := range frames {
			lines = append(lines, fmt.Sprintf("%s %s %s", f.Dir, f.Bytes(), f.SSE))
		}
	}
	want := []string{
		`c2s {"jsonrpc": "2.0", "id": 1, "method": "ping"} `,
		`s2c {"jsonrpc": "2.0", "id": 1, "result": {}} {"event": "message", "id": "2", "retry": "10"}`,
		`s2c no message {"event": "odd"}`,
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Error(diff)
	}
}

// An older server that names its endpoint with its own origin is posted to through the proxy.
func TestAbsoluteEndpoint(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "event: endpoint\ndata: http://%s/m?sessionId=1\n\n", r.Host)
	}))
	defer up.Close()
	p := start(t, up.URL, nil)
	defer p.frames(t)
	answer, err := http.Get(p.URL + "/sse")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if got, err := io.ReadAll(answer.Body); string(got) != "event: endpoint\ndata: /m?sessionId=1\n\n" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOtherSitesAreRefused(t *testing.T) {
	asked := 0
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }))
	defer up.Close()
	p := start(t, up.URL, nil)
	defer p.frames(t)
	p.proxy.opts.Origins = []string{"https://app.example"}
	for _, c := range []struct {
		host, origin string
		want         int
	}{
		{"", "", 200}, {"localhost:80", "", 200}, {"[::1]:9", "", 200}, {"evil.example", "", 403}, {"127.0.0.1.evil.example:80", "", 403},
		{"", "http://localhost:6274", 200}, {"", "https://app.example", 200}, {"", "https://evil.example", 403}, {"", "null", 403}, {"", "http://localhost.evil.example", 403},
	} {
		before := asked
		r, err := http.NewRequest(http.MethodPost, p.URL+"/mcp", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		if c.host != "" {
			r.Host = c.host
		}
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != c.want || (asked > before) != (c.want == 200) {
			t.Errorf("%+v: status %d, %d requests passed", c, answer.StatusCode, asked-before)
		}
	}
}

func TestServerIsNotThere(t *testing.T) {
	p := start(t, "http://127.0.0.1:1", nil)
	answer, err := http.Post(p.URL+"/mcp", "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, _ := io.ReadAll(answer.Body); answer.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "cannot be reached") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	for _, frames := range p.frames(t) {
		if len(frames) != 1 || frames[0].Dir != session.C2S {
			t.Errorf("%d frames", len(frames))
		}
	}
}

// A client ends its session while a stream of it is open: what the stream still brings is recorded.
func TestStreamOutlivesSession(t *testing.T) {
	over := make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		<-over
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/last\"}\n\n")
	}))
	defer web.Close()
	p := start(t, web.URL, nil)
	do := func(method string) *http.Response {
		r, err := http.NewRequest(method, p.URL+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(headerSession, "one")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	stream := do(http.MethodGet)
	defer stream.Body.Close()
	do(http.MethodDelete).Body.Close()
	close(over)
	if _, err := io.ReadAll(stream.Body); err != nil {
		t.Fatal(err)
	}
	var all []session.Frame
	for _, frames := range p.frames(t) {
		all = append(all, frames...)
	}
	if len(all) != 1 || !strings.Contains(string(all[0].Message), "notifications/last") {
		t.Errorf("the log holds %d frames", len(all))
	}
}

// Bodies and events too long to keep pass whole and are recorded cut; a closed gate stops them.
func TestLongBodies(t *testing.T) {
	long := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat("x", maxBody+10) + `"}`
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/events" {
			w.Header().Set("Content-Type", "text/event-stream")
			body = append(append([]byte("data: "), body...), "\n\n"...)
		}
		w.Write(body)
	}))
	defer up.Close()
	for _, path := range []string{"/json", "/events"} {
		for name, g := range map[string]*gate.Gate{"tap": nil, "open": gate.New(gate.Options{})} {
			p := start(t, up.URL, g)
			answer, err := http.Post(p.URL+path, "application/json", strings.NewReader(long))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || strings.TrimSpace(strings.TrimPrefix(string(got), "data: ")) != long {
				t.Errorf("%s %s: %d bytes, %v", name, path, len(got), err)
			}
			for _, frames := range p.frames(t) {
				for _, f := range frames {
					if f.Raw == nil || !strings.Contains(string(f.Raw), "… [cut") {
						t.Errorf("%s %s: recorded %.80q", name, path, f.Bytes())
					}
				}
				if len(frames) != 2 {
					t.Errorf("%s %s: %d frames", name, path, len(frames))
				}
			}
		}
	}
	p := start(t, up.URL, gate.New(gate.Options{Closed: true}))
	defer p.frames(t)
	answer, err := http.Post(p.URL+"/json", "application/json", strings.NewReader(long))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a closed gate says %d", answer.StatusCode)
	}
}

// A body that has come whole is not read on: its client's connection may be past it by then.
func TestBodiesEndByTheirLength(t *testing.T) {
	t.Parallel()
	body := upTo(3, io.NopCloser(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(http.ErrBodyReadAfterClose))))
	for _, want := range []string{"abc", ""} {
		if got, err := io.ReadAll(body); err != nil || string(got) != want {
			t.Errorf("%q, %v, want %q", got, err, want)
		}
	}
	short := upTo(3, io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF)))
	if _, err := io.ReadAll(short); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a body that breaks off ends with %v", err)
	}
}
