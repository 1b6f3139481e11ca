package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"
)

// State is what the messages of a session have said so far.
type State struct {
	// HeadMissing says that what came before is not known whole: what was fed does
	// not begin where the session did, or messages are missing in it.
	HeadMissing bool
	// Initialized says that notifications/initialized has crossed.
	Initialized bool
	// Modern says that the session belongs to the era without initialize.
	Modern bool
	// ListRequested says that the client has asked for tools.
	ListRequested bool
	// Granted are the client's capabilities, those within another as "sampling.tools"; nil
	// while they are unknown.
	Granted map[string]bool
	// Capabilities are the server's names of its own, nil while unknown.
	Capabilities map[string]bool
	// Server, ServerInfo, Protocol and Instructions are what the server said of
	// itself: what a later introduction leaves out stays.
	Server       Implementation
	ServerInfo   json.RawMessage
	Protocol     string
	Instructions string
	// Surface is the newest complete declaration of tools; nil is unknown, not empty.
	Surface *Toolset
	// First and Last are the first complete declaration and the latest one, which
	// a notice of change retires as Surface but not as history.
	First, Last *Toolset
	// Expired says that Surface is unknown because its ttlMs had passed.
	Expired bool
	// Declared says that the message fed last completed a declaration of tools,
	// Delta which names differ from the first one, Redeclared which have other
	// contents than in the one before. Both are sorted.
	Declared          bool
	Delta, Redeclared []string
	// Limits are the bounds that were met, in order.
	Limits []string

	expires time.Time
	pages   [lists]Pages
	// read is the page of tools that was read last: most listings are repeated.
	read *Page
	// What follows is of a listing of tools that is to be a proof.
	until      time.Time
	generation int
	counter    int
	inFlight   bool
}

// Limit notes a bound that was met, once.
func (s *State) Limit(what string) {
	if !slices.Contains(s.Limits, what) {
		s.Limits = append(s.Limits, what)
	}
}

// Stale reports whether the server has declared tools and announced others since.
func (s *State) Stale() bool { return s.Surface == nil && s.Last != nil && !s.Expired }

// begin makes ready for the next message, which crossed at a moment.
func (s *State) begin(at time.Time) {
	s.Declared, s.Delta, s.Redeclared = false, nil, nil
	if s.Surface != nil && !s.expires.IsZero() && (at.IsZero() || at.After(s.expires)) {
		s.Surface, s.Expired = nil, true
	}
}

// abandon gives up the listing of tools under way; the current one stays.
func (s *State) abandon() {
	s.pages[Tools].Reset()
	s.until, s.generation, s.inFlight = time.Time{}, 0, false
}

// invalidate makes the surface unknown.
func (s *State) invalidate() { s.Surface, s.Expired = nil, false }

var modernMeta = []byte(metaPrefix)

// fromClient learns from a request or a notification of the client.
func (s *State) fromClient(method string, params json.RawMessage) {
	if !s.Modern && bytes.Contains(params, modernMeta) {
		s.modern(params)
	}
	switch method {
	case MethodInitialized:
		s.Initialized = true
	case MethodInitialize:
		if caps, ok := Member(params, "capabilities"); ok {
			s.Granted = grants(caps)
		} else if Walk(params, func(_, _ []byte) {}) {
			s.Granted = map[string]bool{}
		}
	case MethodDiscover:
		s.Modern = true
	case listMethods[Tools]:
		s.ListRequested = true
	}
}

// modern reads what each request of the era without sessions says of the client.
func (s *State) modern(params json.RawMessage) {
	meta, _ := Member(params, "_meta")
	if _, ok := Member(meta, metaVersion); !ok {
		return
	}
	s.Modern = true
	if caps, ok := Member(meta, metaCapabilities); ok {
		s.Granted = grants(caps)
	}
}

// maxInfo bounds what is kept of what a server says of itself.
const maxInfo = 64 << 10

// introduce takes in who the server says it is.
func (s *State) introduce(in *Introduction) {
	if in.Protocol != "" || s.Protocol == "" {
		s.Protocol = in.Version()
	}
	if in.RawInstructions != nil {
		s.Instructions = in.Instructions
	}
	if in.Capabilities != nil {
		s.Capabilities = names(in.Capabilities)
	}
	switch {
	case in.ServerInfo == nil:
	case len(in.ServerInfo) > maxInfo:
		s.Limit("session_metadata")
	default:
		s.ServerInfo, s.Server = bytes.Clone(in.ServerInfo), in.Server
	}
}

// declare makes a complete listing the surface.
func (s *State) declare(seq uint64, tools []Tool) {
	var now *Toolset
	if s.Last.holds(tools) {
		again := *s.Last
		again.Seq = seq
		now = &again
	} else {
		now = NewToolset(seq, tools)
	}
	before := s.Last
	s.expires = s.until
	s.abandon()
	s.Surface, s.Last, s.Declared, s.Expired = now, now, true, false
	if s.First == nil {
		s.First = now
		return
	}
	for _, c := range now.Since(s.First) {
		if c.Kind != Redeclared {
			s.Delta = append(s.Delta, c.Tool)
		}
	}
	for _, c := range now.Since(before) {
		if c.Kind == Redeclared {
			s.Redeclared = append(s.Redeclared, c.Tool)
		}
	}
	slices.Sort(s.Delta)
	slices.Sort(s.Redeclared)
}

// maxLifetime bounds the ttlMs that is believed, in milliseconds.
const maxLifetime = int64(time.Hour * 24 * 365 * 10 / time.Millisecond)

// lifetime reads ttlMs: the zero time is for ever; known is false for a promise
// that cannot be read, which proves nothing.
func lifetime(result json.RawMessage, at time.Time) (until time.Time, known bool) {
	ttl, ok := Member(result, "ttlMs")
	if !ok {
		return time.Time{}, true
	}
	n, ok := counted(ttl)
	if !ok || at.IsZero() || n > maxLifetime {
		return time.Time{}, false
	}
	return at.Add(time.Duration(n) * time.Millisecond), true
}
