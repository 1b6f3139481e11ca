package canaries

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Flow is what is known of a connection that a client opened.
type Flow struct {
	// Host is the name that the client looked up to get the address, "" for an
	// address that it knew of itself. A port behind it is ignored.
	Host string
	// SNI is the name that TLS was asked for, "" for none.
	SNI string
	// TLS says that the stream was sealed on its way.
	TLS bool
	// Single says that the stream is one request: its header in the form of
	// HTTP/1.1, and all else its body, without chunks.
	Single bool
}

// Sighting is a canary in what a client sent.
type Sighting struct {
	Hit
	// Used is the place of the protocol in which its issuer, and nobody else, got
	// it as a credential: "Authorization: Bearer". "" where the canary has left.
	Used string
}

// Sightings says which canaries are in the stream that a client sent, as
// FlowScanner does.
func (s *Set) Sightings(f Flow, stream []byte) []Sighting {
	fs := s.FlowScanner(f)
	_, _ = fs.Write(stream)
	return fs.Sightings()
}

// FlowScanner looks for canaries in what a client sends, and tells those that
// are used at their issuer from those that have left: a canary is used where it
// is the whole of a credential in a well-formed request of HTTP, over TLS, to
// its issuer by every name that the request bears. It belongs to one goroutine.
type FlowScanner struct {
	flow Flow
	sc   *Scanner
	byID map[string]Canary

	state   state
	at      int64  // what of the stream the framing has read
	decided int64  // up to here the credentials are known
	text    []byte // the header, the line or the form that is being read
	left    int64  // of the body or the chunk
	head    head

	known   []credential // sorted, none within another
	pending []sight
	seen    map[Sighting]int64
}

// sight is a find whose place in the protocol may not be known yet.
type sight struct {
	k        found
	from, to int64
}

// state is what comes next in a stream of requests.
type state int

const (
	inHead state = iota
	inBody
	inForm
	inChunkSize
	inChunk
	inChunkEnd
	inTrailer
	inNothing // no credential can come any more
)

// lag is more than a find may lie behind what was written.
const lag = 1 << 20

// FlowScanner starts a search over what a client sends in a flow.
func (s *Set) FlowScanner(f Flow) *FlowScanner {
	fs := &FlowScanner{flow: f, sc: s.Scanner(), byID: map[string]Canary{}, seen: map[Sighting]int64{}}
	issued := false
	for _, c := range s.list {
		fs.byID[c.ID] = c
		issued = issued || c.IssuedBy(f.Host)
	}
	if !f.TLS || !issued {
		fs.state = inNothing
	}
	fs.sc.told = func(k found, from, to int64) { fs.pending = append(fs.pending, sight{k, from, to}) }
	return fs
}

// Write looks at the next bytes of the stream, in whatever pieces it comes. It
// never fails, and keeps a bounded part.
func (fs *FlowScanner) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		n := min(len(p), pieceSize)
		fs.frame(p[:n])
		_, _ = fs.sc.Write(p[:n])
		p = p[n:]
		fs.judgePending()
	}
	return size, nil
}

// Sightings is what was seen so far, sorted by offset. Each canary is told once
// for each encoding, and once more where it was both used and has left.
func (fs *FlowScanner) Sightings() []Sighting {
	seen := make(map[Sighting]int64, len(fs.seen))
	for s, at := range fs.seen {
		seen[s] = at
	}
	known := fs.known
	if fs.state == inHead { // a client that went away in the middle
		end := max(0, bytes.LastIndex(fs.text, []byte("\r\n")))
		if h, ok := parseHead(fs.text[:end]); ok {
			known = append(slices.Clip(known), h.credentials(fs.decided)...)
		}
	}
	fs.sc.below(func(k found, from, to int64) { fs.judge(seen, known, sight{k, from, to}) })
	for _, p := range fs.pending {
		fs.judge(seen, known, p)
	}
	out := make([]Sighting, 0, len(seen))
	for s, at := range seen {
		s.Offset = at
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Sighting) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), strings.Compare(a.ID, b.ID), strings.Compare(a.Encoding, b.Encoding), strings.Compare(a.Used, b.Used))
	})
	return out
}

// judgePending judges the finds whose place is known, and forgets what is behind.
func (fs *FlowScanner) judgePending() {
	end := fs.decided
	if fs.state == inNothing {
		end = math.MaxInt64
	}
	rest := fs.pending[:0]
	for _, p := range fs.pending {
		if p.to > end {
			rest = append(rest, p)
			continue
		}
		fs.judge(fs.seen, fs.known, p)
	}
	fs.pending = rest
	old := sort.Search(len(fs.known), func(i int) bool { return fs.known[i].to >= fs.at-lag })
	fs.known = fs.known[:copy(fs.known, fs.known[old:])]
}

// judge notes a find, as used or as left.
func (fs *FlowScanner) judge(seen map[Sighting]int64, known []credential, p sight) {
	s := Sighting{Hit: fs.sc.hit(p.k)}
	i := sort.Search(len(known), func(i int) bool { return known[i].from > p.from }) - 1
	if i >= 0 && p.to <= known[i].to && fs.byID[s.ID].usedAt(fs.flow, known[i]) {
		s.Used = known[i].position
	}
	if at, ok := seen[s]; !ok || p.from < at {
		seen[s] = p.from
	}
}

// frame follows the requests of a stream.
func (fs *FlowScanner) frame(p []byte) {
	for len(p) > 0 && fs.state != inNothing {
		n := fs.step(p)
		fs.at += int64(n)
		p = p[n:]
		if len(fs.text) == 0 {
			fs.decided = fs.at
		}
	}
}

// step reads some bytes of p, and says how many.
func (fs *FlowScanner) step(p []byte) int {
	switch fs.state {
	case inBody, inChunk, inForm:
		n := int(min(int64(len(p)), fs.left))
		fs.left -= int64(n)
		if fs.state == inForm {
			fs.text = append(fs.text, p[:n]...)
		}
		if fs.left == 0 {
			fs.ended()
		}
		return n
	case inHead:
		n, ok := fs.until(p, "\r\n\r\n", maxHead)
		if ok {
			fs.begin()
		}
		return n
	default:
		n, ok := fs.until(p, "\r\n", maxHead)
		if ok {
			line := strings.TrimSuffix(string(fs.text), "\r\n")
			fs.text = fs.text[:0]
			fs.line(line)
		}
		return n
	}
}

// until collects bytes up to an end, and says how many and whether it is there.
func (fs *FlowScanner) until(p []byte, end string, limit int) (int, bool) {
	old := len(fs.text)
	fs.text = append(fs.text, p[:min(len(p), limit+len(end)-old)]...)
	from := max(0, old-len(end)+1)
	i := bytes.Index(fs.text[from:], []byte(end))
	if i < 0 {
		if len(fs.text) >= limit {
			fs.state = inNothing
		}
		return len(fs.text) - old, false
	}
	fs.text = fs.text[:from+i+len(end)]
	return len(fs.text) - old, true
}

// begin takes in a header.
func (fs *FlowScanner) begin() {
	h, ok := parseHead(fs.text)
	if !ok {
		fs.state = inNothing
		return
	}
	fs.known = append(fs.known, h.credentials(fs.decided)...)
	fs.head, fs.left, fs.text = h, h.size, fs.text[:0]
	switch {
	case h.ends || fs.flow.Single && (h.size == 0 || h.chunked):
		fs.state = inNothing
	case h.chunked:
		fs.state = inChunkSize
	case h.size == 0:
	case h.size <= maxForm && h.formFields() != nil:
		fs.state = inForm
	default:
		fs.state = inBody
	}
}

// ended goes on behind a body or a chunk.
func (fs *FlowScanner) ended() {
	switch fs.state {
	case inChunk:
		fs.state = inChunkEnd
		return
	case inForm:
		wanted := fs.head.formFields()
		formValues(string(fs.text), func(from int, key, raw, value string) {
			if slices.Contains(wanted, key) {
				at := fs.decided + int64(from)
				fs.known = append(fs.known, credential{at, at + int64(len(raw)), "form " + key, fs.head.host, []string{value}})
			}
		})
		fs.text = fs.text[:0]
	}
	fs.state = inHead
	if fs.flow.Single {
		fs.state = inNothing
	}
}

// line takes in a line between chunks.
func (fs *FlowScanner) line(line string) {
	switch fs.state {
	case inChunkEnd:
		fs.state = inChunkSize
		if line != "" {
			fs.state = inNothing
		}
	case inTrailer:
		if line == "" {
			fs.state = inHead
		}
	default:
		digits, _, _ := strings.Cut(line, ";")
		n, err := strconv.ParseUint(digits, 16, 62)
		switch {
		case err != nil:
			fs.state = inNothing
		case n == 0:
			fs.state = inTrailer
		default:
			fs.left, fs.state = int64(n), inChunk
		}
	}
}
