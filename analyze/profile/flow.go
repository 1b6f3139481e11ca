package profile

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Bounds on what a flood can make a profile hold.
const (
	maxFlows = 50_000
	maxNames = 20_000
	maxURLs  = 20_000
)

// flow is one connection, or the datagrams between two ports, as the log tells it.
type flow struct {
	known    trace.Flow // the latest that identifies it
	start    time.Duration
	views    map[viewKey]*view
	requests []string // "POST /path", the first few
	paths    []finding.Request
	seen     []sighting
	hits     []trace.Flow // by the search of what was not kept
	queries  []query
	closed   bool
	// opened are the calls of the kernel that it belongs to, and from when on.
	opened    []opening
	datagrams []time.Duration
	// plains are the client's sides of a TLS that the sinkhole could not open.
	plains []*plain
	// carried are the calls whose arguments it holds.
	carried []carriedAt
	// relayed are texts that it holds and the calls that sent them, which were not given them.
	relayed []relayedAt
}

type viewKey struct {
	view    trace.View
	request int
}

// view is one reading of a flow, as far as it was kept.
type view struct {
	scan *canaries.FlowScanner
	data []byte
	// at says when the bytes from an offset on were seen.
	at []moment
}

type moment struct {
	offset int64
	time   time.Duration
}

// sighting is a decoy in a flow.
type sighting struct {
	canaries.Sighting
	at time.Duration
	// request is the request that carried it, "" where it is not known.
	request string
	// plain says how a decoy was read that the sinkhole could not see, "" for one that it saw.
	plain string
}

// query is a name that was asked for.
type query struct {
	// name is in lower case, as names are compared. asked has the letters that were
	// sent: a name may carry bytes in an encoding that tells the cases apart.
	name, asked, app string
	at               time.Duration
	flow             *flow
	// hit is the decoy that begins in this name, where one does.
	hit canaries.Hit
}

// url is a request's target.
type url struct {
	text string
	at   time.Duration
	flow *flow
}

// Flow takes what the sinkhole saw.
func (b *Builder) Flow(e *trace.Flow) {
	switch {
	case e.Type == trace.FlowLoss:
		b.out.Lost += int64(max(e.N, 1))
		return
	case e.Type == trace.FlowPlain:
		b.plain(e)
		return
	case e.Flow == 0:
		return
	}
	f := b.flows[e.Flow]
	if f == nil {
		if len(b.flows) >= maxFlows {
			b.out.Truncated = true
			return
		}
		f = &flow{start: e.Stamp, views: map[viewKey]*view{}}
		b.flows[e.Flow] = f
		b.order = append(b.order, f)
	}
	if e.Type != trace.FlowHit {
		f.know(e)
	}
	given := b.proveFlow(e)
	switch e.Type {
	case trace.FlowRequest:
		b.request(f, e, given)
	case trace.FlowQuery:
		b.query(f, e)
	case trace.FlowData:
		b.data(f, e)
	case trace.FlowStatement:
		b.statement(f, e)
	case trace.FlowHit:
		f.hits = append(f.hits, *e)
	case trace.FlowClose, trace.FlowRefused:
		b.finish(f)
	}
}

// know keeps what identifies a flow; a query's host is the name asked for.
func (f *flow) know(e *trace.Flow) {
	k := *e
	k.Data = nil
	if e.Type == trace.FlowQuery {
		k.Host = f.known.Host
	}
	k.Opaque = k.Opaque || f.known.Opaque
	f.known = k
}

// unsent says that a client turned away from TLS before it sent anything in it. On the
// loopback address only a second start answers, so that nothing was said to a program of
// this machine. Elsewhere it may have checked the certificate against one of its own choice.
func (f *flow) unsent() bool {
	k := &f.known
	return k.Opaque && k.Error != "" && k.TLS && k.App == "tls" && k.Kept == 0 && !k.Cut
}

func (b *Builder) request(f *flow, e *trace.Flow, given bool) {
	if len(f.requests) < 8 {
		f.requests = append(f.requests, e.Method+" "+e.Path)
	}
	f.paths = askedOnce(f.paths, finding.Request{Path: e.Path, Given: given})
	if len(b.urls) >= maxURLs {
		b.out.Truncated = true
		return
	}
	b.urls = append(b.urls, url{"//" + b.hostOf(f) + e.Path, e.Stamp, f})
}

// askedOnce adds requests to those of a peer. What no input named is kept first.
func askedOnce(list []finding.Request, more ...finding.Request) []finding.Request {
	for _, q := range more {
		switch {
		case slices.Contains(list, q):
		case len(list) < finding.MaxRequests:
			list = append(list, q)
		case !q.Given:
			if i := slices.IndexFunc(list, func(old finding.Request) bool { return old.Given }); i >= 0 {
				list[i] = q
			}
		}
	}
	return list
}

func (b *Builder) query(f *flow, e *trace.Flow) {
	name := strings.ToLower(e.Host)
	if e.Answer.IsValid() {
		b.named[e.Answer.Unmap()] = name
	}
	if len(b.queries) >= maxNames {
		b.out.Truncated = true
		return
	}
	f.datagram(e.Stamp)
	q := query{name: name, asked: e.Host, app: e.App, at: e.Stamp, flow: f}
	f.queries = append(f.queries, q)
	b.queries = append(b.queries, q)
	b.askedPart(q)
}

func (b *Builder) data(f *flow, e *trace.Flow) {
	f.datagram(e.Stamp)
	k := viewKey{e.View, e.Request}
	if e.View == trace.ViewMessage {
		k.request = 0 // a secret may be split over messages
	}
	if f.views == nil {
		// What comes after the end is searched as well.
		f.views, f.closed = map[viewKey]*view{}, false
	}
	v := f.views[k]
	if v == nil {
		v = &view{scan: b.find.FlowScanner(canaries.Flow{Host: e.Host, SNI: e.SNI, TLS: e.TLS, Single: e.View == trace.ViewRequest})}
		f.views[k] = v
	}
	v.at = append(v.at, moment{int64(len(v.data)), e.Stamp})
	v.data = append(v.data, e.Data...)
	_, _ = v.scan.Write(e.Data) // it never fails
}

// when is the moment at which the byte at an offset was seen.
func (v *view) when(offset int64) time.Duration {
	i, ok := slices.BinarySearchFunc(v.at, offset, func(m moment, o int64) int { return int(m.offset - o) })
	if !ok {
		i--
	}
	return v.at[max(0, min(i, len(v.at)-1))].time
}

// finish searches what was kept of a flow and lets go of it.
func (b *Builder) finish(f *flow) {
	if f.closed {
		return
	}
	f.closed = true
	found, byCall := map[string]bool{}, map[inCall]bool{}
	for _, k := range sortedViews(f.views) {
		v := f.views[k]
		b.carries(f, v)
		b.relayedIn(f, v)
		for _, s := range b.sightings(f, v) {
			at := v.when(s.Offset)
			f.seen = append(f.seen, sighting{Sighting: s, at: at, request: requestAt(v.data, s.Offset)})
			found[s.ID], byCall[inCall{s.ID, b.intervalAt(at).call}] = true, true
		}
		sent := messages(f, k, v.data)
		b.packed(f, v, sent, byCall)
		for i := range sent {
			at := v.when(int64(sent[i].start))
			b.sealedIn(f, &sent[i], at)
			b.noteSent(f, &sent[i], at)
			b.sentParts(f, &sent[i], at)
		}
		if k.view == trace.ViewWire && !f.known.Cut && f.known.App == "http/1.1" && ambiguousFraming(v.data, sent) {
			b.unread("what was sent to " + b.peer(f) + " can be read as HTTP in more than one way, or not to its end")
		}
	}
	if f.known.Error == trace.MalformedDNS {
		b.unread("what was sent to " + b.peer(f) + " as DNS could not be read")
	}
	for k := range byCall {
		found[k.id] = true
	}
	for _, h := range f.hits {
		// What was searched and not kept: its place is not known, so nothing excuses it.
		if !found[h.Canary] {
			found[h.Canary] = true
			f.seen = append(f.seen, sighting{at: h.Stamp, Sighting: canaries.Sighting{Hit: canaries.Hit{ID: h.Canary, Encoding: h.Encoding, Offset: h.Offset}}})
		}
	}
	f.views, f.hits = nil, nil
}

func sortedViews(views map[viewKey]*view) []viewKey {
	var keys []viewKey
	for k := range views {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b viewKey) int {
		if d := strings.Compare(string(b.view), string(a.view)); d != 0 {
			return d
		}
		return a.request - b.request
	})
	return keys
}

// packed looks into what is compressed, by its header or without a word.
func (b *Builder) packed(f *flow, v *view, sent []message, found map[inCall]bool) {
	for _, m := range sent {
		hits, err := b.find.FindBody(m.body, m.header)
		for _, h := range hits {
			at := v.when(int64(m.start))
			if k := (inCall{h.ID, b.intervalAt(at).call}); !found[k] {
				found[k] = true
				f.seen = append(f.seen, sighting{Sighting: canaries.Sighting{Hit: h}, at: at, request: m.line})
			}
		}
		coded := m.header.Get("Content-Encoding")
		if errors.Is(err, canaries.ErrOpaque) || f.known.Cut && coded != "" && coded != "identity" {
			b.unread("a packed body sent to " + b.peer(f) + " could not be read whole")
		}
	}
}

// unread says once what could not be read.
func (b *Builder) unread(what string) {
	if !slices.Contains(b.out.Unread, what) {
		b.out.Unread = append(b.out.Unread, what)
	}
}

// hostOf is the name of a flow's peer, "" for an address that the server knew.
func (b *Builder) hostOf(f *flow) string {
	if f.known.Host != "" {
		return f.known.Host
	}
	return b.named[f.known.Dest.Addr().Unmap()]
}

// peer is "host:port" or "address:port".
func (b *Builder) peer(f *flow) string { return b.name(f.known.Dest) }

// name names an address by the name that led to it.
func (b *Builder) name(a netip.AddrPort) string {
	a = netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
	if name := b.named[a.Addr()]; name != "" {
		return name + ":" + portText(a.Port())
	}
	return a.String()
}
