package profile

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// dial is a call of the kernel that named an address outside. What it reached is
// known only with the flows, so it becomes an effect at the end.
type dial struct {
	to     netip.AddrPort
	at     time.Duration
	effect finding.Effect
	// inherited says that the effect's call is that of its process, not of the moment.
	inherited bool
	used      bool
	// socket is the kernel's name of the socket.
	socket string
	// index is the effect's place, -1 before it has one and where there was no room.
	index int
}

// place is where in a run a host was reached.
type place struct {
	host  string
	phase finding.Phase
	call  int
}

// interval is a part of the run that began at a moment.
type interval struct {
	at      time.Duration
	phase   finding.Phase
	call    int
	replied time.Duration
}

// dial notes an attempt to reach an address outside.
func (b *Builder) dial(r *trace.Record, to netip.AddrPort, e finding.Effect) {
	if len(b.dials) >= maxEffects {
		b.out.Truncated = true
		return
	}
	b.dials = append(b.dials, &dial{to: to, at: r.Time, effect: e, inherited: b.task(r.Tid).call > 0, socket: r.Path, index: -1})
}

// beginInterval is called at each phase and call.
func (b *Builder) beginInterval(at time.Duration) {
	b.timeline = append(b.timeline, interval{at: at, phase: b.phase, call: b.call})
}

// intervalAt is the interval of the run that a moment lies in.
func (b *Builder) intervalAt(at time.Duration) interval {
	i, ok := slices.BinarySearchFunc(b.timeline, at, func(s interval, t time.Duration) int { return int(min(max(s.at-t, -1), 1)) })
	if !ok {
		i--
	}
	if i < 0 {
		return interval{phase: finding.PhaseStart}
	}
	return b.timeline[i]
}

// put places an effect where the run stood at a moment.
func (b *Builder) put(e finding.Effect, at time.Duration) finding.Effect {
	s := b.intervalAt(at)
	e.Phase, e.Call, e.Count = s.phase, s.call, 1
	e.Ambiguous = s.phase.Unpinned() || s.replied > 0 && at > s.replied
	e.Tool = b.toolOf(e.Call)
	return e
}

// network turns dials and flows into effects, at the end, when every address has its name.
func (b *Builder) network() {
	b.matchDials()
	b.tiePlains()
	for _, d := range b.dials {
		b.dialed(d)
	}
	for _, f := range b.order {
		b.finish(f)
		b.readPlains(f)
		b.flowed(f)
	}
	b.unseal()
	for _, f := range b.order {
		b.carriedBy(f)
		b.relayedOver(f)
	}
	b.overNames()
	b.overURLs()
	b.overParts()
}

// dialed adds the effect of a call. A name server's is told by what it was asked.
func (b *Builder) dialed(d *dial) {
	e := d.effect
	if d.to.Port() != 53 && b.merelyConnected(d) {
		return
	}
	if d.to.Port() == 53 {
		if d.used {
			return
		}
		e.Target = "dns"
	} else {
		e.Target, e.Host = b.name(d.to), b.named[d.to.Addr()]
	}
	if d.used {
		e.Rung = finding.RungOpened
	}
	d.index = b.add(e)
	b.reachedIn[place{e.Host, e.Phase, e.Call}] = true
}

// flowed adds what a flow was and what it carried.
func (b *Builder) flowed(f *flow) {
	for _, q := range f.queries {
		e := b.origin(f, q.at)
		if b.reachedIn[place{q.name, e.Phase, e.Call}] {
			continue // told with what came of it
		}
		e.Kind, e.Target, e.Host, e.Via, e.Rung = finding.NetConnect, "dns:"+base(q.name), q.name, q.app, finding.RungOpened
		e.Evidence = []finding.Evidence{b.flowSays(f, q.at, "asked for the name "+clip(b.find.Redact(q.asked), 200))}
		b.add(e)
	}
	if len(f.queries) == 0 || f.known.App != "dns" {
		b.reached(f)
	}
	for _, s := range f.seen {
		if f.known.Service != "" && b.ofRow(s.ID) {
			continue
		}
		channel, host, to := via(f), b.hostOf(f), b.peer(f)
		if q := f.asked(s.at); q != nil {
			if b.inNames(s.ID, q.name) {
				continue // told with the name that carried it
			}
			channel, host, to = q.app, domainOf(q.name), "names below "+domainOf(q.name)
		}
		b.left(f, s, channel, host, to)
	}
}

// asked is the first question that was answered after a moment: that of the
// message whose bytes were seen then. It is nil where there is none.
func (f *flow) asked(at time.Duration) *query {
	for i := range f.queries {
		if f.queries[i].at >= at {
			return &f.queries[i]
		}
	}
	return nil
}

// reached adds what a flow says of itself to the effect of the call that opened it.
func (b *Builder) reached(f *flow) {
	k := &f.known
	opaque := k.Opaque && (!f.unsent() || !k.Dest.Addr().Unmap().IsLoopback())
	var tool string
	ev := b.flowSays(f, f.start, b.summary(f))
	ev.Outside = !k.Allowed && k.Type != trace.FlowRefused && !k.Dest.Addr().Unmap().IsLoopback()
	if d := f.dial(f.start); d != nil && d.index >= 0 {
		e := &b.out.Effects[d.index]
		e.Unsent = (!e.Opaque || e.Unsent) && opaque && f.unsent()
		e.Via, e.Opaque, e.Requests = via(f), e.Opaque || opaque, askedOnce(e.Requests, f.paths...)
		tool = e.Tool
		if len(e.Evidence) < 8 {
			e.Evidence = append(slices.Clip(e.Evidence), ev)
		}
	} else {
		e := b.put(finding.Effect{Kind: finding.NetConnect, Target: b.peer(f), Host: b.hostOf(f), Via: via(f), Opaque: opaque, Unsent: opaque && f.unsent(), Rung: finding.RungOpened, Evidence: []finding.Evidence{ev}}, f.start)
		if k.Dest.Addr().Unmap().IsLoopback() {
			e.Target = "loopback:" + portText(k.Dest.Port())
		}
		tool = e.Tool
		if i := b.add(e); i >= 0 {
			b.out.Effects[i].Requests = askedOnce(b.out.Effects[i].Requests, f.paths...)
		}
	}
	if opaque {
		b.out.Opaque = append(b.out.Opaque, OpaqueFlow{b.peer(f), tool, f.unsent()})
	}
}

// summary says what a flow was.
func (b *Builder) summary(f *flow) string {
	k := &f.known
	text := "reached " + b.peer(f)
	switch {
	case k.Allowed:
		text = "was let through to " + b.peer(f)
	case k.Type == trace.FlowRefused:
		text = "was refused by " + b.peer(f)
	}
	if b.hostOf(f) != "" {
		text += " (" + k.Dest.Addr().Unmap().String() + ")"
	}
	text += " over " + via(f)
	if k.SNI != "" && k.SNI != b.hostOf(f) {
		text += ", in TLS as " + clip(b.find.Redact(k.SNI), 100)
	}
	if len(f.requests) > 0 {
		text += ": " + clip(b.find.Redact(strings.Join(f.requests, ", ")), 300)
	}
	switch {
	case f.unsent() && k.Dest.Addr().Unmap().IsLoopback():
		text += "; it turned away before it sent anything in it"
	case k.Opaque:
		text += "; what it sent could not be read"
	}
	return text
}

// left adds a decoy that went over the network, or was used at its issuer.
func (b *Builder) left(f *flow, s sighting, channel, host, to string) {
	b.leftBy[flowSecret{f, s.ID}] = true
	e := b.origin(f, s.at)
	if host == "" {
		host = f.known.Dest.Addr().Unmap().String()
	}
	e.Kind, e.Target, e.Rung, e.Host, e.Via, e.Used, e.Noise = finding.Secret, s.ID, finding.RungLeft, host, channel, s.Used, ""
	e.Encoding = s.Encoding
	text := fmt.Sprintf("the secret %s was sent to %s over %s (%s, offset %d)", s.ID, to, channel, s.Encoding, s.Offset)
	if s.plain == plainOffered {
		text = fmt.Sprintf("the secret %s was handed to TLS for %s (%s, offset %d)", s.ID, to, s.Encoding, s.Offset)
	}
	if s.Used != "" {
		text = fmt.Sprintf("the secret %s was used at its issuer %s: %s", s.ID, to, s.Used)
	}
	if s.request != "" {
		e.Request = clip(b.find.Redact(s.request), 200)
		text += " in " + e.Request
	}
	if s.plain != "" {
		text += ", " + s.plain
	}
	e.Evidence = []finding.Evidence{b.flowSays(f, s.at, text)}
	b.add(e)
}

// origin is an effect of a flow, placed by the process that opened it where that
// was started in a call, else by the moment.
func (b *Builder) origin(f *flow, at time.Duration) finding.Effect {
	e := b.put(finding.Effect{}, at)
	d := f.dial(at)
	if d == nil {
		return e
	}
	e.Actor = d.effect.Actor
	if d.effect.Call == e.Call {
		// The kernel's word on when it began is earlier than the sinkhole's.
		e.Ambiguous = d.effect.Ambiguous
	}
	if d.inherited {
		e.Phase, e.Call, e.Tool = d.effect.Phase, d.effect.Call, b.toolOf(d.effect.Call)
		e.Ambiguous = d.effect.Ambiguous
	}
	return e
}

func (b *Builder) flowSays(f *flow, at time.Duration, text string) finding.Evidence {
	return finding.Evidence{Source: "flow", Seq: f.known.Flow, Time: at, Text: text}
}

// inNames reports whether the names asked for below a name's domain carry a decoy.
func (b *Builder) inNames(id, name string) bool {
	if b.inDNS == nil {
		b.readNames()
	}
	_, ok := b.inDNS[domainOf(name)][id]
	return ok
}

// readNames looks for decoys in the names below each domain, in the order in
// which they were asked for.
func (b *Builder) readNames() {
	b.inDNS = map[string]map[string]query{}
	below := map[string][]query{}
	for _, q := range b.queries {
		below[domainOf(q.name)] = append(below[domainOf(q.name)], q)
	}
	for domain, list := range below {
		names := make([]string, len(list))
		for i, q := range list {
			names[i] = q.asked
		}
		found := map[string]query{}
		for _, h := range b.find.FindDNS(names) {
			q := list[max(0, min(int(h.Offset), len(list)-1))]
			q.hit = h
			if _, ok := found[h.ID]; !ok {
				found[h.ID] = q
			}
		}
		b.inDNS[domain] = found
	}
}

// overNames adds the decoys that names carried: in one, or in pieces over many.
func (b *Builder) overNames() {
	if b.inDNS == nil {
		b.readNames()
	}
	for _, domain := range sortedKeys(b.inDNS) {
		for _, id := range sortedKeys(b.inDNS[domain]) {
			q := b.inDNS[domain][id]
			b.left(q.flow, sighting{Sighting: canaries.Sighting{Hit: q.hit}, at: q.at}, q.app, domain, "names below "+domain)
		}
	}
}

// overURLs adds the decoys that were spread over requests to one peer, where no
// single one held them.
func (b *Builder) overURLs() {
	byPeer := map[string][]url{}
	for _, u := range b.urls {
		peer := b.peer(u.flow)
		byPeer[peer] = append(byPeer[peer], u)
	}
	for _, peer := range sortedKeys(byPeer) {
		list := byPeer[peer]
		texts := make([]string, len(list))
		for i, u := range list {
			texts[i] = u.text
		}
		for _, h := range b.find.FindURLs(texts) {
			u := list[max(0, min(int(h.Offset), len(list)-1))]
			if slices.ContainsFunc(u.flow.seen, func(s sighting) bool { return s.ID == h.ID && b.intervalAt(s.at).call == b.intervalAt(u.at).call }) {
				continue
			}
			b.left(u.flow, sighting{Sighting: canaries.Sighting{Hit: h}, at: u.at}, via(u.flow), b.hostOf(u.flow), peer)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// via names the channel of a flow as a reader would.
func via(f *flow) string {
	k := &f.known
	switch k.App {
	case "http/1.1":
		if k.TLS {
			return "https"
		}
		return "http"
	case "":
		if k.TLS {
			return "tls"
		}
		return k.Proto
	}
	return k.App
}

// base is a name as effects count it: one that carries data is counted with the
// others below its domain.
func base(name string) string {
	if len(name) <= 64 && strings.Count(name, ".") <= 4 {
		return name
	}
	return "*." + domainOf(name)
}

// domainOf is the part of a name that someone registered.
func domainOf(name string) string {
	if d, err := publicsuffix.EffectiveTLDPlusOne(strings.TrimSuffix(name, ".")); err == nil {
		return d
	}
	return name
}

func portText(p uint16) string { return strconv.Itoa(int(p)) }

// maxAsked bounds the peers that are kept of one call.
const maxAsked = 8

// peersAsked notes which peers each call's requests went to: a connection that is kept
// open shows only in the call that opened it.
func (b *Builder) peersAsked() {
	b.out.Asked = map[int][]string{}
	for _, u := range b.urls {
		call := b.intervalAt(u.at).call
		if call == 0 || u.flow.known.Dest.Addr().IsLoopback() {
			continue
		}
		if list, peer := b.out.Asked[call], b.peer(u.flow); len(list) < maxAsked && !slices.Contains(list, peer) {
			b.out.Asked[call] = append(list, peer)
		}
	}
}
