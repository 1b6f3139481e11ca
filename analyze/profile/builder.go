package profile

import (
	"bytes"
	"cmp"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// maxEffects bounds memory: a run with more distinct effects is inconclusive.
const maxEffects = 50_000

// Builder folds a log into a Profile. It is not safe for concurrent use.
type Builder struct {
	ctx     Context
	out     *Profile
	phase   finding.Phase
	call    int
	replied time.Duration // stamp of the reply to the call, 0 before
	first   int           // the task that became the target, 0 before
	// replanted says that somebody changed what stands in Context.Helpers.
	replanted bool
	index     effectIndex
	tasks     map[int]*task
	ended     ended
	secrets   map[string][]string // path to canary ids
	kinds     map[string]string   // canary id to its kind
	opened    map[string]int      // path to the index of its latest secret effect
	// counts are the numbers by which the server said how far a call has come.
	counts map[int][]float64
	// openedAt says of paths below HOME, by their sums, when they were opened last.
	openedAt map[uint64]time.Duration
	// sought are paths with the name of a secret's file that were asked for in vain.
	sought sought
	made   map[string]bool // paths that the server created or wrote
	// lookedFor are the processes of others that signal 0 asked for, up to one more than maxLookedFor.
	lookedFor map[int]bool
	writer    map[string]int  // the latest call in which a path was written, 0 for none
	undone    map[fileIn]bool // paths that were deleted or moved away in a call
	bound     bound
	sockets   map[string]*socket // by the kernel's name
	pipes     map[string]bool    // named pipes that the server made
	// read are accesses of which the log may hold the open only later: the two
	// come from different sources. They are joined when the phase or call ends.
	read []access
	find *canaries.Set
	said tail // of stderr
	// heard is the end of what ports of the server's answered.
	heard tail
	// given are the sums of the words of inputs, as longWords cuts them.
	given map[uint64]bool
	// relays are the texts that are looked for in what other calls send.
	relays relays
	// sealedTexts were sent and look random.
	sealedTexts []sealedText
	// sentRequests are those of HTTP, in the order in which they were read.
	sentRequests []sentRequest
	// givenWords are words of the arguments, by call.
	givenWords map[int][]string
	names      names
	// decoyWords are words that were looked for in the decoys, and whether they were found.
	decoyWords map[string]bool
	decoysSent []sent // once made

	// The network: what the kernel was asked, what the sinkhole saw, the names of
	// addresses, and when what of the run was.
	dials    []*dial
	flows    map[uint64]*flow
	plains   plains
	order    []*flow
	queries  []query
	urls     []url
	named    map[netip.Addr]string
	inDNS    map[string]map[string]query // by domain and canary
	timeline []interval
	// reachedIn are the hosts that calls of the kernel named, by their addresses.
	reachedIn map[place]bool
	// oracles are the inputs that prove themselves.
	oracles oracles
	// contents is what files tell of themselves.
	contents contents
	// stores are the files that were written.
	stores stores
	// sent and returned are the parts in which a decoy may have gone.
	sent, returned parts
	// leftBy are the decoys that were found in flows.
	leftBy map[flowSecret]bool
	// late is what frames show, which is added after all that the trace shows.
	late frameResults
	// userReads are the opens of the user's documents.
	userReads reads
}

// frameResults is what frames show of effects and hits, and listings of hits, in their order.
type frameResults struct {
	effects      []finding.Effect
	index        effectIndex
	hits, listed []Hit
}

// task is a process or thread that was seen.
type task struct {
	exe    string
	parent int
	proc   *process
	// call is the call in which it was born: its work stays that call's.
	call int
	// early says that it was born before that call was answered.
	early bool
	phase finding.Phase
	// step is how far it has come in its interpreter's own start, -1 for a task that
	// has none.
	step int
	// lists says that its program lists processes, and prints nothing of their environment.
	lists bool
	// container is when it last looked whether it runs in a container, 0 for never.
	container time.Duration
}

// access is a watched path that was read.
type access struct {
	path string
	at   time.Duration
}

// NewBuilder starts a profile.
func NewBuilder(ctx Context) *Builder {
	if ctx.Set == nil {
		ctx.Set = canaries.FromCanaries(ctx.Canaries)
	}
	b := &Builder{
		leftBy: map[flowSecret]bool{},
		ctx:    ctx, phase: finding.PhaseStart, index: effectIndex{}, tasks: map[int]*task{},
		secrets: map[string][]string{}, kinds: map[string]string{}, opened: map[string]int{}, openedAt: map[uint64]time.Duration{}, sought: newSought(), counts: map[int][]float64{}, made: map[string]bool{}, lookedFor: map[int]bool{}, writer: map[string]int{}, undone: map[fileIn]bool{}, bound: bound{at: map[string]int{}}, sockets: map[string]*socket{}, pipes: map[string]bool{}, find: ctx.Set, oracles: newOracles(),
		contents: newContents(), stores: newStores(),
		late:  frameResults{index: effectIndex{}},
		given: map[uint64]bool{}, givenWords: map[int][]string{}, decoyWords: map[string]bool{},
		flows: map[uint64]*flow{}, reachedIn: map[place]bool{}, named: map[netip.Addr]string{},
		out: &Profile{bases: map[string]string{}, Refusals: map[string]Refusal{}, FrameCall: map[uint64]int{}, FramePhase: map[uint64]finding.Phase{}, Phases: map[finding.Phase]bool{}},
	}
	b.relays.know(ctx.Home)
	b.relays.literals = strings.Join(ctx.Literals, "\x00")
	b.relays.read(ctx.Documents)
	for _, c := range ctx.Canaries {
		b.kinds[c.ID] = c.Kind
		if c.Path != "" {
			b.secrets[c.Path] = append(b.secrets[c.Path], c.ID)
			b.sought.name(c.Path)
		}
	}
	return b
}

// Profile returns what was built. The Builder must not be used afterwards.
func (b *Builder) Profile() *Profile {
	b.joinReads()
	b.listeners()
	b.network()
	b.compareContents()
	b.storedFiles()
	b.background()
	b.out.visited, b.out.undone = b.oracles.visited, b.undone
	b.addCounts()
	b.peersAsked()
	b.compareSent()
	b.overFrames()
	for _, e := range b.late.effects {
		b.add(e)
	}
	for _, h := range slices.Concat(b.late.hits, b.late.listed) {
		b.addHit(h)
	}
	b.nameEvidence()
	*b = Builder{out: b.out} // what it took to build may be large
	return b.out
}

// nameEvidence says in all evidence which effect it shows.
func (b *Builder) nameEvidence() {
	for i := range b.out.Effects {
		e := &b.out.Effects[i]
		about := string(e.Kind) + " " + e.Target
		for k := range e.Evidence {
			e.Evidence[k].About = about
		}
	}
}

// SoFar is the profile as far as the log was read: its calls, and the calls and
// phases of frames. Profile completes it.
func (b *Builder) SoFar() *Profile { return b.out }

// Mark takes a mark of the log.
func (b *Builder) Mark(m *session.Mark) {
	switch m.Kind {
	case session.MarkPhase, session.MarkCall, session.MarkReturn:
		b.joinReads()
	}
	switch m.Kind {
	case session.MarkPhase:
		b.phase, b.call = finding.Phase(m.Phase), 0
		b.out.Phases[b.phase] = true
		b.beginInterval(m.Time)
	case session.MarkCall:
		b.phase, b.call, b.replied = finding.PhaseCall, m.Call, 0
		b.out.Phases[b.phase] = true
		b.beginInterval(m.Time)
		b.out.Calls = append(b.out.Calls, Call{N: m.Call, Tool: m.Tool, What: m.What, Start: m.Time, Oracles: m.Oracles, Repeats: int(m.N), Turn: m.Turn})
		b.inject(m)
	case session.MarkReturn:
		if n := len(b.out.Calls); n > 0 && b.out.Calls[n-1].N == m.Call {
			b.out.Calls[n-1].Outcome, b.out.Calls[n-1].End = session.Outcome(m.What), m.Time
		}
		b.phase, b.call = finding.PhaseIdle, 0
		if session.Outcome(m.What) == session.OutcomeCancelled {
			// The server may well go on with it: that is no work between calls.
			b.phase, b.call, b.replied = finding.PhaseCall, m.Call, m.Time
		}
		b.beginInterval(m.Time)
		b.timeline[len(b.timeline)-1].replied = b.replied
	case session.MarkFrame:
		b.Crossed(m, false)
	case session.MarkLoss:
		b.out.Lost += max(m.N, 1)
	case session.MarkStderr:
		b.stderr(m)
	case session.MarkAnswered:
		b.answered(m)
	case session.MarkServed:
		b.inject(m)
	case session.MarkEvent:
		b.event(m)
	}
}

// Crossed takes the mark of a frame. reply says that the frame answers a request of
// the client's: what a server does after its reply is ambiguous.
func (b *Builder) Crossed(m *session.Mark, reply bool) {
	if b.call == 0 {
		b.out.FramePhase[m.Seq] = b.phase
	} else {
		delete(b.out.FramePhase, m.Seq) // whose mark is there twice
		b.out.FrameCall[m.Seq] = b.call
		if reply {
			b.replied = m.Time
			b.timeline[len(b.timeline)-1].replied = m.Time
		}
	}
}

// event takes an event of the agent: an access to a watched path is the rung
// "read" of the latest open of that path.
func (b *Builder) event(m *session.Mark) {
	if m.Event == nil {
		b.out.Lost++
		return
	}
	at := m.Event.Stamp
	b.contents.event(m.Event)
	switch e := m.Event.Body.(type) {
	case session.EventText:
		if len(b.stores.texts) < maxEffects {
			b.stores.texts[e.Path] = e
		}
	case session.EventLoss:
		if e.Code != session.GapTLSLost {
			b.out.Lost += max(e.N, 1)
		}
	case session.EventAccess:
		if strings.Contains(e.Mask, "read") {
			b.read = append(b.read, access{e.Path, at})
		}
	case session.EventRefused:
		b.refused(e, at)
	case session.EventFound:
		if slices.Contains(b.secrets[e.Path], e.Canary) || b.ofRow(e.Canary) {
			return // moved or copied by name: it is followed there
		}
		f := b.effect(finding.Secret, e.Canary, finding.RungRead, nil, finding.Evidence{Source: "event", Time: at,
			Text: fmt.Sprintf("the secret %s stands in %s, which was written (%s, offset %d)", e.Canary, b.short(e.Path), e.Encoding, e.Offset)})
		f.Via, f.Encoding = "file", e.Encoding
		if call := b.writer[e.Path]; f.Call == 0 && call > 0 {
			f.Phase, f.Call, f.Tool, f.Ambiguous = finding.PhaseCall, call, b.toolOf(call), false
		}
		b.secret([]string{e.Canary}, f)
	}
}

// joinReads lifts each pending access to the rung "read".
func (b *Builder) joinReads() {
	for _, a := range b.read {
		b.access(a.path, a.at)
	}
	b.read = b.read[:0]
}

func (b *Builder) access(p string, at time.Duration) {
	ids := b.secrets[p]
	if len(ids) == 0 {
		return
	}
	ev := finding.Evidence{Source: "event", Time: at, Text: "the contents of " + b.short(p) + " were read"}
	if i, ok := b.opened[p]; ok {
		e := b.out.Effects[i]
		e.Rung, e.Evidence = finding.RungRead, append(slices.Clone(e.Evidence), ev)
		slices.SortStableFunc(e.Evidence, func(a, b finding.Evidence) int { return cmp.Compare(a.Time, b.Time) })
		e.Count = 0
		b.secret(ids, e)
		return
	}
	b.secret(ids, b.effect(finding.Secret, "", finding.RungRead, nil, ev))
}

// secret adds an effect for each canary that a path holds.
func (b *Builder) secret(ids []string, e finding.Effect) {
	for _, id := range ids {
		e.Target, e.Kind, e.Noise = id, finding.Secret, ""
		b.add(e)
	}
}

func (b *Builder) stderr(m *session.Mark) {
	found, err := b.said.more(b.find, cmp.Or(m.Text, string(m.Data)))
	if err != nil {
		b.unread("what the server wrote on stderr could not be searched whole")
	}
	for _, h := range found {
		ev := finding.Evidence{Source: "event", Time: m.Time, Text: fmt.Sprintf("the secret %s stands on stderr (%s, offset %d)", h.ID, h.Encoding, h.Offset)}
		e := b.effect(finding.Secret, h.ID, finding.RungReturned, nil, ev)
		e.Via, e.Encoding = "stderr", h.Encoding
		b.secret([]string{h.ID}, e)
	}
}

// answered takes what came back from a port that the server opened.
func (b *Builder) answered(m *session.Mark) {
	text := cmp.Or(m.Text, string(m.Data))
	b.proveReturn(&b.out.Hits, m.Call, []byte(text), "was answered at "+cmp.Or(m.What, "a port"), finding.Evidence{Source: "event", Time: m.Time})
	found, err := b.heard.more(b.find, text)
	if err != nil {
		b.unread("what a port of the server's answered could not be searched whole")
	}
	for _, h := range found {
		ev := finding.Evidence{Source: "event", Time: m.Time, Text: fmt.Sprintf("%s answered with the secret %s (%s, offset %d)", cmp.Or(m.What, fmt.Sprintf("port %d", m.N)), h.ID, h.Encoding, h.Offset)}
		e := b.effect(finding.Secret, h.ID, finding.RungReturned, nil, ev)
		e.Via, e.Encoding = "listener", h.Encoding
		b.secret([]string{h.ID}, e)
	}
}

// Frame takes a frame that the server sent, after its mark. It reports whether the
// frame holds a canary's value.
func (b *Builder) Frame(seq uint64, at time.Duration, raw []byte) bool {
	b.provenReply(seq, at, raw)
	hits, err := b.find.FindBody(raw, nil)
	if err != nil {
		b.unread("a message of the server's could not be searched whole")
	}
	if i := bytes.Index(raw, []byte(canaries.Passed)); i >= 0 && b.ctx.Passed != "" {
		hits = append(hits, canaries.Hit{ID: b.ctx.Passed, Encoding: "raw", Offset: int64(i)})
	}
	if call := b.out.FrameCall[seq]; call > 0 {
		b.counted(call, raw)
		b.answers(call, raw)
		b.sealed(raw, Payload{Phase: b.out.phaseOf(seq), Call: call, Tool: b.toolOf(call)})
	}
	pointers := b.pointers(raw, hits)
	for _, h := range hits {
		b.returnedSecret(seq, at, h, fmt.Sprintf("the secret %s crossed the wire%s (%s, offset %d)", h.ID, pointers[h.ID], h.Encoding, h.Offset))
	}
	b.returnedParts(seq, at, raw)
	return len(hits) > 0
}

// returnedSecret adds the effect of a frame that holds a decoy.
func (b *Builder) returnedSecret(seq uint64, at time.Duration, h canaries.Hit, text string) {
	e := finding.Effect{Kind: finding.Secret, Target: h.ID, Phase: b.out.phaseOf(seq), Call: b.out.FrameCall[seq],
		Rung: finding.RungReturned, Via: "wire", Encoding: h.Encoding, Evidence: []finding.Evidence{{Source: "frame", Seq: seq, Time: at, Text: text}}}
	e.Tool = b.toolOf(e.Call)
	if _, ok := merge(&b.late.effects, b.late.index, &e); !ok {
		b.out.Truncated = true
	}
}

func (b *Builder) toolOf(call int) string {
	for i := len(b.out.Calls) - 1; i >= 0; i-- {
		if b.out.Calls[i].N == call {
			return b.out.Calls[i].Tool
		}
	}
	return ""
}

// effect makes an effect at the place where the log stands now, for the task of
// r where there is one.
func (b *Builder) effect(kind finding.EffectKind, target string, rung finding.Rung, r *trace.Record, ev finding.Evidence) finding.Effect {
	e := b.placed(r)
	e.Kind, e.Target, e.Rung, e.Evidence = kind, target, rung, []finding.Evidence{ev}
	return e
}

// placed is what an effect is by its place and its task alone.
func (b *Builder) placed(r *trace.Record) finding.Effect {
	e := finding.Effect{Phase: b.phase, Call: b.call, Count: 1}
	if r != nil {
		b.attribute(&e, r)
	}
	if e.Phase.Unpinned() {
		e.Ambiguous = true
	}
	e.Tool = b.toolOf(e.Call)
	return e
}

// add merges an effect with its equals; it keeps the first evidence of each. It
// returns the effect's place, -1 where there is no room for it.
func (b *Builder) add(e finding.Effect) int {
	i, ok := merge(&b.out.Effects, b.index, &e)
	if !ok {
		b.out.Truncated = true
	}
	return i
}

// short writes a path the way a reader thinks of it.
func (b *Builder) short(p string) string {
	if under(p, b.ctx.Home) {
		return "~" + strings.TrimPrefix(p, b.ctx.Home)
	}
	return p
}

// target names the peer of a socket call.
func target(a *trace.Addr) string {
	if a.Port == 53 {
		return "dns"
	}
	if ip, err := netip.ParseAddr(a.Host); err == nil {
		return netip.AddrPortFrom(ip.Unmap(), uint16(a.Port)).String()
	}
	return fmt.Sprintf("%s:%d", a.Host, a.Port)
}

func isLoopback(a *trace.Addr) bool {
	ip, err := netip.ParseAddr(a.Host)
	return err == nil && ip.Unmap().IsLoopback()
}
