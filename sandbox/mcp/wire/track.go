package wire

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Kind is what a message is.
type Kind uint8

// The kinds.
const (
	// Unparsed is what crossed and was no message.
	Unparsed Kind = iota
	Request
	Notification
	Response
)

// Crossing is a message on its way from one side to the other, as a Tracker reads it.
type Crossing struct {
	Kind Kind
	// Server says that the server sent it.
	Server bool
	// Seq is its frame's number, for Asked and Toolset.
	Seq uint64
	// At is when it crossed, the zero time where that is not known.
	At time.Time
	// Method is the request's or notification's own, "" for a response.
	Method             string
	ID, Params, Result json.RawMessage
	// Failed says that a response is an error.
	Failed bool
	// Refused is a request that a gate kept from the server, or a gate's own answer to one.
	Refused bool
	// Exchange names the HTTP exchange within which the client's ids count, "" for
	// the session itself.
	Exchange string
}

// Crossing is the message on its way; server says that the server sent it.
func (m *Message) Crossing(server bool) Crossing {
	c := Crossing{Kind: Response, Server: server, Method: m.Method, ID: m.ID, Params: m.Params, Result: m.Result, Failed: m.Error != nil}
	switch {
	case m.IsRequest():
		c.Kind = Request
	case m.IsNotification():
		c.Kind = Notification
	}
	return c
}

// exchange is the exchange within which the id counts: the client's requests are
// answered on their own exchange, those of the server on another.
func (c *Crossing) exchange() string {
	if c.Server == (c.Kind == Response) {
		return c.Exchange
	}
	return ""
}

// Seen is what a message is within its session.
type Seen struct {
	// Method is the message's, of a response that of the request which it answers,
	// "" if it answers none.
	Method string
	// Asked is the request itself, or the one that a response answers; nil for none
	// that can be told.
	Asked *Asked
	// Args are the arguments of a tools/call, nil when absent.
	Args json.RawMessage
	// Ambiguous says that a request's id was in use: nothing is paired with it.
	Ambiguous bool
	// Orphan says that a response answers no request of this session.
	Orphan bool
	// Introduction is what the server says of itself here, nil for nothing.
	Introduction *Introduction
	// Page is the page of a list that is answered, nil for none, and Listing the
	// list so far, nil where the page belongs to none. Both may be kept.
	Page    *Page
	Listing *Listing
}

// Listing is one list, as far as its pages were seen.
type Listing struct {
	List List
	Entries
	// Complete says that no page is missing.
	Complete bool
	// Cut is the bound beyond which the list goes on, "" for none.
	Cut Bound
}

// Options say how a Tracker reads a session. The zero value is for who judges what
// others did: nothing is believed that two readers could take for different things.
type Options struct {
	Bounds Bounds
	// Generous pairs requests and responses as the most generous client does: the
	// ids 1, 1.0 and "1" are one, of two requests with one id the later is
	// answered, and of too many the oldest go. It is for who must not miss an answer.
	Generous bool
	// Loose takes each list that crosses for what is declared, as far as it can be
	// read. Otherwise a listing of tools is to prove what is not in it: one counts
	// only if every entry could be read, no other was begun meanwhile, no notice of
	// change came in between, and until its ttlMs has passed.
	Loose bool
}

// Tracker keeps the state of one session, fed with its messages in their order. It
// keeps no more than its bounds say, and nothing of the bytes that it is given.
// One goroutine uses it at a time.
type Tracker struct {
	// State is what was said so far.
	State *State

	opts    Options
	client  *pairs // requests of the client
	refused *pairs // those that a gate kept from the server
	server  *pairs // requests of the server
	tools   map[string]string
	seen    Seen
}

// NewTracker returns a Tracker for one session.
func NewTracker(o Options) *Tracker {
	o.Bounds = o.Bounds.filled()
	t := &Tracker{State: &State{}, opts: o, tools: map[string]string{}}
	t.clear()
	return t
}

// clear forgets all requests, and what is declared.
func (t *Tracker) clear() {
	t.client, t.refused, t.server = t.pairs(), t.pairs(), t.pairs()
	for l := range t.State.pages {
		t.State.pages[l].Bounds = t.opts.Bounds
	}
}

func (t *Tracker) pairs() *pairs { return newPairs(t.opts.Bounds.Pending, t.opts.Generous) }

// Fork returns a Tracker of the same session and State for requests of the client
// whose answers come on a way of their own, such as an HTTP request's: their ids
// count for themselves. It ends with its last use.
func (t *Tracker) Fork() *Tracker {
	return &Tracker{State: t.State, opts: t.opts, client: t.pairs(), refused: t.pairs(), server: t.server, tools: t.tools}
}

// End forgets what an exchange of Crossing.Exchange left unanswered.
func (t *Tracker) End(exchange string) {
	t.client.end(exchange)
	t.refused.end(exchange)
}

// Gap says that messages are missing: what is declared, and what answers what, is
// not known any more.
func (t *Tracker) Gap() {
	t.State.HeadMissing, t.State.Surface, t.State.Expired = true, nil, false
}

// Forget says that nothing known before holds on.
func (t *Tracker) Forget() {
	*t.State = State{HeadMissing: true}
	t.clear()
}

// Abandon gives up the listing of tools that is under way.
func (t *Tracker) Abandon() { t.State.abandon() }

// Feed takes the next message and says what it is. What it returns is valid until
// the next call.
func (t *Tracker) Feed(c *Crossing) *Seen {
	t.seen = Seen{Method: c.Method}
	t.State.begin(c.At)
	switch c.Kind {
	case Request, Notification:
		t.request(c)
		switch {
		case !c.Server:
			t.State.fromClient(c.Method, c.Params)
			if l, ok := ListOf(c.Method); ok && l == Tools && !t.opts.Loose {
				t.listing()
			}
		case c.Method == NoteToolsChanged:
			t.State.invalidate()
			if !t.opts.Loose {
				t.State.abandon()
			}
		}
	case Response:
		t.response(c)
		if c.Server && t.seen.Asked != nil {
			t.answer(c)
		}
	}
	return &t.seen
}

// NoteToolsChanged is how a server announces that its tools are others now.
const NoteToolsChanged = "notifications/tools/list_changed"

// MethodCall is the call of a tool.
const MethodCall = "tools/call"

// request remembers what will be answered.
func (t *Tracker) request(c *Crossing) {
	if c.ID == nil && c.Method != MethodCall {
		return
	}
	a := Asked{Seq: c.Seq, Method: c.Method}
	if len(a.Method) > maxName {
		a.Method = strings.Clone(a.Method[:maxName])
	}
	if !c.Server {
		t.details(c, &a)
	}
	p := t.client
	switch {
	case c.Server:
		p = t.server
	case c.Refused:
		p = t.refused // the server never saw it and cannot answer
	}
	var ok bool
	if t.seen.Asked, ok = p.request(c.ID, c.exchange(), a); !ok {
		t.seen.Ambiguous = true
		t.State.Limit("request_correlation")
	}
	if t.seen.Asked == nil && c.Method == MethodCall {
		alone := a
		t.seen.Asked = &alone
	}
}

// details reads of a request of the client's what its answer will be held against.
func (t *Tracker) details(c *Crossing, a *Asked) {
	if c.Method == MethodCall {
		Walk(c.Params, func(key, value []byte) {
			switch string(key) {
			case "name":
				a.Tool = t.tool(value)
			case "arguments":
				t.seen.Args = value
			}
		})
		return
	}
	if _, ok := ListOf(c.Method); !ok {
		return
	}
	if cursor, ok := Member(c.Params, "cursor"); ok && cursor[0] != 'n' {
		a.hasCursor = true
		a.cursor, _ = Text(cursor)
		if most := t.opts.Bounds.Cursor + 1; len(a.cursor) > most {
			a.cursor = strings.Clone(a.cursor[:most]) // no page that is kept has named it
		}
	}
}

// tool interns a tool's name: sessions call the same ones again and again.
func (t *Tracker) tool(raw json.RawMessage) string {
	if s, ok := t.tools[string(raw)]; ok {
		return s
	}
	s, _ := Text(raw)
	if len(t.tools) < t.opts.Bounds.Entries && len(raw) <= maxName {
		t.tools[string(raw)] = s
	}
	return s
}

// response finds what is answered.
func (t *Tracker) response(c *Crossing) {
	p := t.server
	switch {
	case !c.Server:
	case c.Refused:
		p = t.refused
	default:
		p = t.client
	}
	a, known := p.response(c.ID, c.exchange())
	if a != nil {
		t.seen.Asked, t.seen.Method = a, a.Method
		return
	}
	t.seen.Orphan = known && !c.Refused && !p.full && !t.State.HeadMissing
}

// listing begins a listing that is to be a proof, or continues the one under way.
func (t *Tracker) listing() {
	s, a := t.State, t.seen.Asked
	p := &s.pages[Tools]
	switch {
	case a == nil || t.seen.Ambiguous:
		s.abandon()
	case !a.hasCursor:
		s.abandon()
		s.counter++
		s.generation, s.inFlight = s.counter, true
		a.generation = s.generation
	case s.generation != 0 && p.open && !s.inFlight && a.cursor == p.next:
		s.inFlight = true
		a.generation = s.generation
	default:
		s.abandon()
	}
}

// answer learns from an answer of the server's.
func (t *Tracker) answer(c *Crossing) {
	switch m := t.seen.Asked.Method; m {
	case MethodInitialize, MethodDiscover:
		if c.Failed {
			return
		}
		if in, ok := ReadIntroduction(c.Result); ok {
			t.seen.Introduction = in
			t.State.introduce(in)
		}
	default:
		l, ok := ListOf(m)
		switch {
		case !ok:
		case l == Tools && !t.opts.Loose:
			t.proof(c)
		case !c.Failed:
			t.page(l, c)
		}
	}
}

// read reads a page, or has it from before where it is the same again.
func (t *Tracker) read(l List, result json.RawMessage) *Page {
	if last := t.State.read; last != nil && l == Tools && string(last.raw) == string(result) {
		return last
	}
	page := ReadPage(l, result)
	if l == Tools {
		t.State.read = page
	}
	return page
}

// page takes a page as far as it can be read.
func (t *Tracker) page(l List, c *Crossing) {
	t.seen.Page = t.read(l, c.Result)
	p := &t.State.pages[l]
	if t.seen.Page.Unreadable() {
		p.Reset()
		return
	}
	step := p.Add(t.seen.Page, t.seen.Asked.cursor)
	if step == Stray {
		return
	}
	t.seen.Listing = &Listing{List: l, Entries: p.Entries, Complete: step == Complete, Cut: p.Over}
	if step != More {
		p.Reset()
	}
	if step == Complete && l == Tools {
		t.State.declare(c.Seq, t.seen.Listing.Tools)
	}
}

// proof takes a page of a listing of tools that is to be a proof. One flaw, and
// nothing is known of what is declared.
func (t *Tracker) proof(c *Crossing) {
	s, a := t.State, t.seen.Asked
	if !c.Failed {
		t.seen.Page = t.read(Tools, c.Result)
	}
	if a.generation == 0 || a.generation != s.generation {
		return // it was given up
	}
	s.inFlight = false
	page := t.seen.Page
	until, known := lifetime(c.Result, c.At)
	if page == nil || page.Flawed || !known {
		s.refute()
		return
	}
	if !until.IsZero() && (s.until.IsZero() || until.Before(s.until)) {
		s.until = until
	}
	p := &s.pages[Tools]
	step := p.Add(page, a.cursor)
	long := slices.ContainsFunc(page.Tools, func(tool Tool) bool { return len(tool.Name) > t.opts.Bounds.Name })
	switch {
	case long, step == Cut && p.Over != BoundCursor:
		s.Limit("tool_declaration")
		s.refute()
	case step == Cut, step == Stray, a.hasCursor && page.Next == a.cursor:
		s.refute()
	default:
		t.seen.Listing = &Listing{List: Tools, Entries: p.Entries, Complete: step == Complete}
		if step == Complete {
			s.declare(c.Seq, p.Entries.Tools)
		}
	}
}

// refute gives up a listing that proves nothing, and what was proved before it.
func (s *State) refute() {
	s.invalidate()
	s.abandon()
}
