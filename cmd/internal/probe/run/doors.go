package run

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/literals"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

const (
	// doorTime bounds what is asked of all ports that speak HTTP before their attack inputs, once as a client of the
	// protocol and once of their routes, and is the least for those;
	// maxDoors counts the ports, and maxTried the routes that each is asked for.
	doorTime = 20 * time.Second
	maxDoors = 4
	maxTried = 24
	// foreign is a host that cannot exist (RFC 6761), and foreignOrigin a web page of it.
	foreign       = "rebinding.invalid"
	foreignOrigin = "http://" + foreign
	helloBody     = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}}}`
)

// streamPaths are where servers of the older transport have their stream.
var streamPaths = []string{"/sse", "/", "/mcp", "/sse/"}

// request is one of HTTP/1.1 to a port that the server opened. Nothing in it is a credential.
type request struct {
	method, path string
	// host and origin are those of a web page elsewhere, "" for the port's own and none.
	host, origin string
	header       string // further lines, each with its end
	body         string
	// heard is told what came of the answer so far while more may come, and says when that is enough; it may be nil.
	heard func(raw []byte) (done bool)
}

func (q *request) text(port int) string {
	host := q.host
	if host == "" {
		host = fmt.Sprintf("localhost:%d", port)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: curl/8.5.0\r\nAccept: application/json, text/event-stream, */*\r\nConnection: close\r\n", q.method, q.path, host)
	if q.origin != "" {
		fmt.Fprintf(&b, "Origin: %s\r\n", q.origin)
	}
	b.WriteString(q.header)
	if q.body != "" {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(q.body))
	}
	return b.String() + "\r\n" + q.body
}

// reply is the beginning of an answer of HTTP.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// replyOf reads an answer, false for what is none.
func replyOf(raw []byte) (reply, bool) {
	got, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		return reply{}, false
	}
	defer func() { _ = got.Body.Close() }() // it reads from memory
	// A stream has no end: what came of it is enough.
	body, _ := io.ReadAll(io.LimitReader(got.Body, maxHeard))
	return reply{got.StatusCode, got.Header, body}, true
}

func (r *reply) ok() bool { return r.status >= 200 && r.status < 300 }

// speaks reports whether an answer is the protocol's: a result, or a stream of events.
func (r *reply) speaks() bool {
	return r.ok() && (bytes.Contains(r.body, []byte(`"result"`)) || strings.HasPrefix(r.header.Get("Content-Type"), "text/event-stream"))
}

// door is a port that speaks HTTP.
type door struct {
	to mux.Addr
	// own says that the server is probed over it.
	own bool
	// send asks it something; ok is false where no answer came.
	send func(request) (got reply, ok bool)
	fact func(what session.RemoteFact, format string, a ...any)
	// left counts what there was no time to ask.
	left int
	// spoken is the path over which another port than the own one speaks the protocol, "" for none.
	spoken string
}

// knock asks a port something; ok is false where no answer came.
type knock func(ctx context.Context, to mux.Addr, q request) (got reply, ok bool)

// doors are the ports that speak HTTP, and how they are asked.
type doors struct {
	s     *Session
	list  []*door
	knock knock
	// call makes a call of what is asked.
	call func(ctx context.Context, in []session.Injection, ask func())
	// endpoint is the path of the protocol at the server's own port, "" for none.
	endpoint string
}

// doorsOf are the doors among ports, the server's own first.
func (s *Session) doorsOf(ports []mux.Addr, own int, k knock) *doors {
	out := &doors{s: s, knock: k, call: s.listening}
	if own > 0 {
		out.endpoint = s.endpoint()
		ports = append([]mux.Addr{{Net: "tcp", Host: "localhost", Port: own}}, ports...)
	}
	if more := len(ports) - maxDoors; more > 0 {
		s.doubt(session.GapAttacksIncomplete, finding.PhaseIdle, fmt.Sprintf("the server answers HTTP on %d ports, and coalmine asked only %d of them", len(ports), maxDoors))
		ports = ports[:maxDoors]
	}
	for _, to := range ports {
		d := &door{to: to, own: to.Port == own}
		d.fact = func(what session.RemoteFact, format string, a ...any) {
			s.rec.mark(session.Mark{Kind: session.MarkHTTP, What: string(what), Call: s.lastCall, Tool: nameOf(to), N: int64(to.Port), Text: fmt.Sprintf(format, a...)})
		}
		out.list = append(out.list, d)
	}
	return out
}

// endpointOf is the path of a door that nobody asks for but the protocol.
func (ds *doors) endpointOf(d *door) string {
	if d.own {
		return ds.endpoint
	}
	return ""
}

// each does something with each door. All together have some time, of which each gets an equal part of what is left.
func (ds *doors) each(ctx context.Context, most time.Duration, do func(d *door)) {
	end := time.Now().Add(most)
	for i, d := range ds.list {
		bounded, cancel := context.WithTimeout(ctx, time.Until(end)/time.Duration(len(ds.list)-i))
		d.send = func(q request) (reply, bool) {
			if bounded.Err() != nil {
				d.left++
				return reply{}, false
			}
			got, ok := ds.knock(bounded, d.to, q)
			ds.s.heard = ds.s.heard || ok
			return got, ok
		}
		do(d)
		cancel()
	}
}

// told makes a gap of what there was no time to ask.
func (ds *doors) told(ctx context.Context, what string) {
	var names []string
	left := 0
	for _, d := range ds.list {
		if d.left > 0 {
			names = append(names, nameOf(d.to))
		}
		left, d.left = left+d.left, 0
	}
	if left > 0 && ctx.Err() == nil {
		ds.s.doubt(session.GapAttacksIncomplete, finding.PhaseIdle, fmt.Sprintf("coalmine had no time for %d %s (%s)", left, what, strings.Join(names, ", ")))
	}
}

// request begins as a client, tries the routes of the server's source, and looks whether the ports check who asks.
func (ds *doors) request(ctx context.Context) {
	p := ds.s.plan
	ds.each(ctx, doorTime, func(d *door) {
		if !d.own {
			d.client(p.Drive.Routes)
		}
	})
	ds.each(ctx, doorTime, func(d *door) {
		if d.own {
			d.protocol(p.Server.Transport == plan.TransportSSE, ds.endpoint)
		}
		d.routes(p.Drive.Routes, ds.endpointOf(d))
	})
	ds.told(ctx, "requests to ports that the server opened")
}

// attack gives the routes of each port inputs that prove themselves, as a call of its own.
func (ds *doors) attack(ctx context.Context) {
	s := ds.s
	if s.plan.Oracles == nil {
		return
	}
	ds.each(ctx, max(doorTime, s.plan.Budget.OracleTime), func(d *door) {
		list := slices.DeleteFunc(slices.Clone(s.plan.Drive.Routes), func(r literals.Route) bool { return r.Path == ds.endpointOf(d) })
		attacks := requestsWith(list, s.plan.Oracles, func(n int) string { return oracle.Token(s.plan.Seed, "a route", n) })
		if len(attacks) == 0 {
			return
		}
		var in []session.Injection
		for _, a := range attacks {
			in = append(in, a.in)
		}
		ds.call(ctx, in, func() {
			for _, a := range attacks {
				d.send(a.request)
			}
		})
	})
	ds.told(ctx, "attack inputs for ports that the server opened")
}

// protocol asks the port over which the server is probed as a web page elsewhere would.
func (d *door) protocol(older bool, endpoint string) {
	usual := request{method: http.MethodPost, path: endpoint, body: helloBody}
	got, ok := reply{}, false
	if older {
		for _, path := range streamPaths {
			usual = request{method: http.MethodGet, path: path}
			if got, ok = d.send(usual); ok && got.speaks() {
				break
			}
		}
	} else if endpoint != "" {
		got, ok = d.send(usual)
	}
	if !ok || !got.speaks() {
		return
	}
	d.checked(usual, got.status, (*reply).speaks)
}

// checked asks a port that has answered a client once more as a web page elsewhere would.
func (d *door) checked(usual request, status int, answered func(*reply) bool) {
	d.fact(session.PortNoAuthorization, "%s %.100s without credentials is answered with HTTP status %d", usual.method, usual.path, status)
	d.elsewhere(usual, answered, session.RemoteRebinding, session.RemoteOrigin, session.RemoteCORS)
}

// elsewhere repeats a request as a page of another origin would send it: to the server's own name, and to a name of the
// page's own that leads here. answered says that the server does what it does for everybody. origin may be "" for no fact.
func (d *door) elsewhere(usual request, answered func(*reply) bool, rebinding, origin, cors session.RemoteFact) {
	usual.origin = foreignOrigin
	plain, ok := d.send(usual)
	crosses := ok && answered(&plain)
	rebound := usual
	rebound.host = foreign
	if got, ok := d.send(rebound); ok && answered(&got) {
		d.fact(rebinding, "%s %.100s with “Host: %s” and “Origin: %s” is answered with HTTP status %d", usual.method, usual.path, foreign, foreignOrigin, got.status)
	} else if crosses && origin != "" {
		d.fact(origin, "%s %.100s with “Origin: %s” is answered with HTTP status %d", usual.method, usual.path, foreignOrigin, plain.status)
	}
	if crosses {
		d.crossOrigin(cors, usual)
	}
}

// crossOrigin asks as a browser does before it lets a page of another origin send a request and read the answer.
func (d *door) crossOrigin(what session.RemoteFact, of request) {
	got, ok := d.send(request{method: http.MethodOptions, path: of.path, origin: foreignOrigin,
		header: "Access-Control-Request-Method: " + of.method + "\r\nAccess-Control-Request-Headers: content-type\r\n"})
	if !ok {
		return
	}
	if origin := got.header.Get("Access-Control-Allow-Origin"); origin == foreignOrigin || origin == "*" {
		d.fact(what, "a preflight for %s %.100s from “%s” is answered with Access-Control-Allow-Origin: %.100s", of.method, of.path, foreignOrigin, origin)
	}
}

// routes asks for each route of the source: those that only read first. On another port than the server's own, one that
// answers with data, or that changes something, is asked for again from elsewhere. Nobody asks here for endpoint, the
// protocol's own.
func (d *door) routes(list []literals.Route, endpoint string) {
	var open request
	tried := 0
	for _, reads := range []bool{true, false} {
		for _, r := range list {
			if (r.Method == http.MethodGet) != reads || tried >= maxTried || r.Path == endpoint {
				continue
			}
			tried++
			q := request{method: r.Method, path: r.Path}
			if !reads && r.Method != http.MethodDelete {
				q.body = "{}"
			}
			got, ok := d.send(q)
			if ok && got.ok() && open.path == "" && r.Path != d.spoken && (!reads || strings.Contains(got.header.Get("Content-Type"), "json")) {
				open = q
			}
		}
	}
	if d.own || open.path == "" {
		return
	}
	d.fact(session.PortNoAuthorization, "%s %.100s without credentials is answered with success", open.method, open.path)
	d.elsewhere(open, (*reply).ok, session.PortRebinding, "", session.PortCORS)
}
