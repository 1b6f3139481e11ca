package run

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
)

// opened is a door in front of a handler, and the facts that are seen at it. Requests and answers go as bytes.
func opened(t *testing.T, handler http.HandlerFunc) (d *door, facts *[]session.RemoteFact) {
	t.Helper()
	facts = new([]session.RemoteFact)
	return &door{
		to: mux.Addr{Net: "tcp", Host: "localhost", Port: 3000},
		send: func(q request) (reply, bool) {
			r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(q.text(3000))))
			if err != nil {
				t.Fatalf("no request: %v", err)
			}
			w := httptest.NewRecorder()
			handler(w, r)
			raw, err := httputil.DumpResponse(w.Result(), true)
			if err != nil {
				t.Fatal(err)
			}
			if q.heard != nil {
				q.heard(raw)
			}
			return replyOf(raw)
		},
		fact: func(what session.RemoteFact, _ string, _ ...any) { *facts = append(*facts, what) },
	}, facts
}

func initialized(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/mcp" && r.ContentLength > 0:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`))
	case r.Method == http.MethodOptions:
	default:
		http.NotFound(w, r)
	}
}

func TestOwnPort(t *testing.T) {
	t.Parallel()
	checked := func(host, origin bool, next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if host && r.Host == foreign || origin && r.Header.Get("Origin") != "" {
				http.Error(w, "no", http.StatusForbidden)
				return
			}
			next(w, r)
		}
	}
	anyOrigin := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		initialized(w, r)
	}
	for _, c := range []struct {
		what    string
		handler http.HandlerFunc
		want    []session.RemoteFact
	}{
		{"nothing is checked", initialized, []session.RemoteFact{session.PortNoAuthorization, session.RemoteRebinding}},
		{"the host is", checked(true, false, initialized), []session.RemoteFact{session.PortNoAuthorization, session.RemoteOrigin}},
		{"both are", checked(true, true, initialized), []session.RemoteFact{session.PortNoAuthorization}},
		{"the host is, and any origin may read", checked(true, false, anyOrigin), []session.RemoteFact{session.PortNoAuthorization, session.RemoteOrigin, session.RemoteCORS}},
		{"any origin may read, and none gets an answer", checked(true, true, anyOrigin), []session.RemoteFact{session.PortNoAuthorization}},
		{"a credential is asked for", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusUnauthorized) }, nil},
		{"a fault of the protocol", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"error":{}}`)) }, nil},
	} {
		d, facts := opened(t, c.handler)
		d.protocol(false, "/mcp")
		if !slices.Equal(*facts, c.want) {
			t.Errorf("%s: %q, want %q", c.what, *facts, c.want)
		}
	}
	d, facts := opened(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/event-stream")
			return
		}
		http.NotFound(w, r)
	})
	if d.protocol(true, "/message"); !slices.Equal(*facts, []session.RemoteFact{session.PortNoAuthorization, session.RemoteRebinding}) {
		t.Errorf("the older transport: %q", *facts)
	}
}

func TestOtherPort(t *testing.T) {
	t.Parallel()
	list := []literals.Route{{Method: "POST", Path: "/run"}, {Method: "GET", Path: "/page"}, {Method: "GET", Path: "/state"}}
	for _, c := range []struct {
		what string
		open []string // what answers
		want []session.RemoteFact
	}{
		{"a route with data", []string{"GET /state"}, []session.RemoteFact{session.PortNoAuthorization, session.PortRebinding}},
		{"a route that changes something", []string{"POST /run"}, []session.RemoteFact{session.PortNoAuthorization, session.PortRebinding}},
		{"a page", []string{"GET /page"}, nil},
		{"nothing", nil, nil},
	} {
		var asked []string
		d, facts := opened(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Method+" "+r.URL.Path)
			if !slices.Contains(c.open, r.Method+" "+r.URL.Path) {
				http.NotFound(w, r)
				return
			}
			if r.URL.Path != "/page" {
				w.Header().Set("Content-Type", "application/json")
			}
			_, _ = w.Write([]byte(`{}`))
		})
		d.routes(list, "")
		if !slices.Equal(*facts, c.want) || !slices.Equal(asked[:3], []string{"GET /page", "GET /state", "POST /run"}) {
			t.Errorf("%s: %q, want %q; asked for %q", c.what, *facts, c.want, asked)
		}
		d.own = true
		asked, *facts = nil, nil
		if d.routes(list, "/run"); len(*facts) > 0 || len(asked) != 2 {
			t.Errorf("%s, at its own port: %q, asked for %q", c.what, *facts, asked)
		}
	}
}

// doorsFor are the doors of ports 1 to n of a server, the first its own, with a log of the marks. A request takes
// some time and is answered, but at a dead port.
func doorsFor(t *testing.T, n, dead int, takes time.Duration, routes []literals.Route) (ds *doors, asked map[int][]string) {
	t.Helper()
	s := &Session{plan: &plan.Plan{Seed: 1, Oracles: worldOfDoors(t)}, rec: &recorder{}, endpoint: func() string { return "/mcp" }}
	s.plan.Drive.Routes = routes
	var ports []mux.Addr
	for port := 2; port <= n; port++ {
		ports = append(ports, mux.Addr{Net: "tcp", Host: "localhost", Port: port})
	}
	asked = map[int][]string{}
	ds = s.doorsOf(ports, 1, func(ctx context.Context, to mux.Addr, q request) (reply, bool) {
		asked[to.Port] = append(asked[to.Port], q.path)
		if to.Port == dead {
			return reply{}, false
		}
		select {
		case <-ctx.Done():
			return reply{}, false
		case <-time.After(takes):
			return reply{status: http.StatusNotFound}, true
		}
	})
	ds.call = func(_ context.Context, in []session.Injection, ask func()) {
		s.beginListening(in)
		ask()
		s.endListening()
	}
	return ds, asked
}

// Every port is asked for the routes before any gets attack inputs, slow ones in parts of the time, and what there was
// no time for is a gap. The calls of the inputs have the outcomes of their own answers.
func TestDoorsShareTheTime(t *testing.T) {
	var many []literals.Route
	for i := range maxTried {
		many = append(many, literals.Route{Method: "GET", Path: fmt.Sprint("/items/", i), Open: fmt.Sprintf("/items/%d/{name}", i)})
	}
	few := []literals.Route{{Method: "GET", Path: "/find", Params: []string{"q"}}}
	for _, c := range []struct {
		what     string
		routes   []literals.Route
		takes    time.Duration
		dead     int
		gaps     int
		outcomes []session.Outcome
	}{
		{"slow ports", many, time.Second, 0, 2, []session.Outcome{session.OutcomeOK, session.OutcomeOK, session.OutcomeOK, session.OutcomeOK}},
		{"few routes", few, 50 * time.Millisecond, 0, 0, []session.Outcome{session.OutcomeOK, session.OutcomeOK, session.OutcomeOK, session.OutcomeOK}},
		{"a port that is gone", few, 50 * time.Millisecond, 3, 0, []session.Outcome{session.OutcomeOK, session.OutcomeOK, session.OutcomeError, session.OutcomeOK}},
		{"no routes", nil, time.Second, 0, 0, nil},
	} {
		t.Run(c.what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ds, asked := doorsFor(t, maxDoors, c.dead, c.takes, c.routes)
				ds.request(t.Context())
				for port := 1; port <= maxDoors && len(c.routes) > 0; port++ {
					if !slices.Contains(asked[port], c.routes[0].Path) || slices.ContainsFunc(asked[port], func(p string) bool { return strings.Contains(p, "?") }) {
						t.Errorf("port %d was asked for %q first", port, asked[port])
					}
				}
				clear(asked)
				ds.attack(t.Context())
				gaps := 0
				var outcomes []session.Outcome
				for _, m := range ds.s.rec.early {
					switch m.Kind {
					case session.MarkInconclusive:
						gaps++
						if m.Code != session.GapAttacksIncomplete || !strings.Contains(m.Text, "port 4") {
							t.Errorf("the gap is %s: %s", m.Code, m.Text)
						}
					case session.MarkReturn:
						outcomes = append(outcomes, session.Outcome(m.What))
					}
				}
				if gaps != c.gaps || !slices.Equal(outcomes, c.outcomes) || len(c.routes) > 0 && len(asked) != maxDoors {
					t.Errorf("%d gaps, want %d; outcomes %q, want %q; %d ports got inputs", gaps, c.gaps, outcomes, c.outcomes, len(asked))
				}
			})
		})
	}
}

func FuzzReplyOf(f *testing.F) {
	f.Add([]byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc"))
	f.Add([]byte("HTTP/1.1 101 x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, ok := replyOf(raw); ok && len(got.body) > maxHeard {
			t.Fatalf("%d bytes", len(got.body))
		}
	})
}

// Ports beyond the bound are a gap.
func TestTooManyDoors(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{maxDoors: 0, maxDoors + 2: 1} {
		ds, _ := doorsFor(t, n, 0, 0, nil)
		gaps := 0
		for _, m := range ds.s.rec.early {
			if m.Kind == session.MarkInconclusive && m.Code == session.GapAttacksIncomplete {
				gaps++
			}
		}
		if len(ds.list) != maxDoors || gaps != want {
			t.Errorf("%d ports: %d are asked, %d gaps, want %d", n, len(ds.list), gaps, want)
		}
	}
}
