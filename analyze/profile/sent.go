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

// Sent is a sequence of requests.
type Sent struct {
	// Peer is the first one's ("host:port"), N their number.
	Peer string
	N    int
	// Sum tells equal sequences: of hosts, lines and bodies, in order.
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

// sequences are the requests of each call, in the order of time.
func (b *Builder) sequences() map[int]Sent {
	slices.SortStableFunc(b.sentRequests, func(x, y sentRequest) int { return cmp.Compare(x.at, y.at) })
	out := map[int]Sent{}
	for _, q := range b.sentRequests {
		call, peer := b.intervalAt(q.at).call, b.peer(q.flow)
		if call == 0 || q.flow.known.Dest.Addr().IsLoopback() {
			continue
		}
		b.ordered(&q, call)
		if len(q.flow.seen) > 0 || slices.ContainsFunc(b.ctx.Canaries, func(c canaries.Canary) bool { return c.IssuedBy(b.hostOf(q.flow)) }) {
			continue
		}
		s, known := out[call]
		if !known {
			s.Peer = peer
		}
		h := fnv.New64a()
		_, _ = h.Write(binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64([]byte(peer), q.sum), s.Sum))
		s.N, s.Sum = s.N+1, h.Sum64()
		out[call] = s
	}
	return out
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
