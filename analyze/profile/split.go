package profile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

const (
	// maxPart is the longest value that is kept as a part: in a longer one a good piece of
	// a decoy stands by itself.
	maxPart = 1 << 10
	// maxKeptParts bounds the bytes of all parts that are kept.
	maxKeptParts = 4 << 20
	// partCost is what a part costs beside its text.
	partCost = 64
)

// part is a short value that a message has at some place.
type part struct {
	text string
	at   time.Duration
	flow *flow  // that it was sent in, nil for a frame's
	name string // that was asked for, where it is a part of one
	seq  uint64 // of the frame
}

// parts are short values by the place at which messages have them, such as a header's
// name. A decoy may be split over several.
type parts struct {
	byPlace map[string][]part
	kept    int
}

// add keeps a value, while there is room.
func (p *parts) add(place string, v part) {
	if len(v.text) == 0 || len(v.text) > maxPart || p.kept > maxKeptParts {
		return
	}
	if p.byPlace == nil {
		p.byPlace = map[string][]part{}
	}
	p.kept += len(v.text) + partCost
	p.byPlace[place] = append(p.byPlace[place], v)
}

// find looks for decoys over the parts of each place, in the order of time. It gives each
// with the part that it starts in.
func (p *parts) find(set *canaries.Set, found func(h canaries.Hit, v part)) {
	for _, place := range slices.Sorted(maps.Keys(p.byPlace)) {
		list := p.byPlace[place]
		slices.SortStableFunc(list, func(a, b part) int { return int(min(max(a.at-b.at, -1), 1)) })
		texts := make([]string, len(list))
		for i, v := range list {
			texts[i] = v.text
		}
		for _, h := range set.FindSplit(texts) {
			v := list[max(0, min(int(h.Offset), len(list)-1))]
			h.Offset = 0
			found(h, v)
		}
	}
}

// sentParts keeps the parts of a message that was sent: its headers, its line and its body,
// for its peer and for all peers of one protocol.
func (b *Builder) sentParts(f *flow, m *message, at time.Duration) {
	add := func(place, text string) {
		v := part{text: text, at: at, flow: f}
		b.sent.add(via(f)+" "+place, v)
		b.sent.add(b.peer(f)+" "+place, v)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(m.header)) {
		value := strings.Join(m.header[name], "")
		add("header "+name, value)
		all = append(all, value)
	}
	for i, text := range all {
		// The headers of one message, where the place is the message's own.
		b.sent.add(fmt.Sprintf("headers %d %d", f.known.Flow, m.start), part{text: text, at: at + time.Duration(i), flow: f})
	}
	add("line", m.line)
	add("body", string(m.body[:min(len(m.body), maxPart+1)]))
}

// askedPart keeps what a name that was asked for has before its domain.
func (b *Builder) askedPart(q query) {
	text := strings.TrimSuffix(q.asked[:max(0, len(q.asked)-len(domainOf(q.name)))], ".")
	if text == "" {
		text, _, _ = strings.Cut(q.asked, ".")
	}
	b.sent.add("names", part{text: text, at: q.at, flow: q.flow, name: q.name})
}

// overParts adds the decoys that were sent in parts, where none held it whole.
func (b *Builder) overParts() {
	b.sent.find(b.find, func(h canaries.Hit, v part) {
		host, to := b.hostOf(v.flow), b.peer(v.flow)
		if b.leftBy[flowSecret{v.flow, h.ID}] || v.name == "" && b.hasLeft(h.ID, host) || v.name != "" && b.hasLeft(h.ID, "") {
			return
		}
		if v.name != "" {
			host, to = v.name, "names like "+clip(b.find.Redact(v.name), maxPointer)
		}
		b.left(v.flow, sighting{Sighting: canaries.Sighting{Hit: h}, at: v.at}, via(v.flow), host, to)
	})
}

// flowSecret is a decoy that was sent in a flow.
type flowSecret struct {
	flow *flow
	id   string
}

// hasLeft reports whether a decoy is known to have left to a host.
func (b *Builder) hasLeft(id, host string) bool {
	return slices.ContainsFunc(b.out.Effects, func(e finding.Effect) bool {
		return e.Kind == finding.Secret && e.Target == id && e.Rung == finding.RungLeft && (host == "" || e.Host == host)
	})
}

// returnedParts keeps the texts of a frame that answers a call.
func (b *Builder) returnedParts(seq uint64, at time.Duration, raw []byte) {
	const maxFrame = 4 * maxPart
	var message struct{ Result any }
	if b.out.FrameCall[seq] == 0 || len(raw) > maxFrame || json.Unmarshal(raw, &message) != nil {
		return
	}
	b.returnedPart(message.Result, "", part{at: at, seq: seq})
}

func (b *Builder) returnedPart(value any, place string, v part) {
	switch value := value.(type) {
	case string:
		v.text = value
		b.returned.add(place, v)
	case []any:
		for i, e := range value {
			b.returnedPart(e, place+"/"+strconv.Itoa(i), v)
		}
	case map[string]any:
		for _, k := range sortedKeys(value) {
			b.returnedPart(value[k], place+"/"+k, v)
		}
	}
}

// overFrames adds the decoys that answers returned in parts.
func (b *Builder) overFrames() {
	b.returned.find(b.find, func(h canaries.Hit, v part) {
		if slices.ContainsFunc(b.late.effects, func(e finding.Effect) bool { return e.Target == h.ID && e.Rung == finding.RungReturned }) {
			return
		}
		b.returnedSecret(v.seq, v.at, h, fmt.Sprintf("the secret %s crossed the wire in parts; this is the first (%s)", h.ID, h.Encoding))
	})
}
