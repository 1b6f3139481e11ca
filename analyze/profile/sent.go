package profile

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries"
)

// Sent are the requests of a call.
type Sent struct {
	// Peer is the first one's ("host:port").
	Peer string
	// Sum tells equal requests in whatever order: by their hosts, lines and bodies.
	Sum uint64
}

// Ordered is a request of HTTP by another method than those that only look (RFC 9110, section 9.2.1).
type Ordered struct {
	Carried
	// Method is in capital letters, and Path without a query.
	Method, Path string
}

// maxOrdered bounds the requests that a profile lists by their methods.
const maxOrdered = 400

// sentRequest is one request.
type sentRequest struct {
	flow *flow
	at   time.Duration
	line string
	sum  uint64
}

// noteSent keeps a request, to be compared with other runs'.
func (b *Builder) noteSent(f *flow, m *message, at time.Duration) {
	if m.line == "" || len(b.sentRequests) >= maxEffects {
		return
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, m.line+"\n")
	_, _ = h.Write(m.body)
	b.sentRequests = append(b.sentRequests, sentRequest{f, at, m.line, h.Sum64()})
}

// maxDistinct bounds the different requests to one domain that are kept.
const maxDistinct = 512

// compareSent notes the requests of each call, and the different ones to each domain: whatever threads and timers do to
// their order, those are the same.
func (b *Builder) compareSent() {
	slices.SortStableFunc(b.sentRequests, func(x, y sentRequest) int { return cmp.Compare(x.at, y.at) })
	b.out.Sent, b.out.Requests = map[int]Sent{}, map[string][]uint64{}
	for _, q := range b.sentRequests {
		call, peer, host := b.intervalAt(q.at).call, b.peer(q.flow), b.hostOf(q.flow)
		if q.flow.known.Dest.Addr().IsLoopback() {
			continue
		}
		if call > 0 {
			b.ordered(&q, call)
		}
		if len(q.flow.seen) > 0 || slices.ContainsFunc(b.ctx.Canaries, func(c canaries.Canary) bool { return c.IssuedBy(host) }) {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write(binary.BigEndian.AppendUint64([]byte(peer), q.sum))
		sum := h.Sum64()
		if list, d := b.out.Requests[domainOf(host)], domainOf(host); len(list) < maxDistinct && !slices.Contains(list, sum) {
			b.out.Requests[d] = append(list, sum)
		}
		if call > 0 {
			s := b.out.Sent[call]
			b.out.Sent[call] = Sent{cmp.Or(s.Peer, peer), s.Sum + sum}
		}
	}
}

// ordered lists a request that does more than look.
func (b *Builder) ordered(q *sentRequest, call int) {
	method, rest, _ := strings.Cut(q.line, " ")
	target, _, _ := strings.Cut(rest, " ")
	path, _, _ := strings.Cut(target, "?")
	switch method {
	case "GET", "HEAD", "OPTIONS", "TRACE", "CONNECT":
		return
	}
	if len(b.out.Ordered) < maxOrdered {
		c := b.carriedIn(q.flow, carriedAt{call, q.at}, "call "+strconv.Itoa(call)+" asked by "+method+" "+path)
		b.out.Ordered = append(b.out.Ordered, Ordered{c, method, path})
	}
}
