package wirelog

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// The bounds of a declaration that is believed.
const (
	maxTools   = 10_000
	maxSurface = 8 << 20
)

// Surface is one complete declaration of tools: all pages of one listing.
type Surface struct {
	// Seq is the frame that completed it.
	Seq   uint64
	Tools map[string]*wire.Tool
	// Names are sorted.
	Names []string
}

// Has reports whether the tool is declared.
func (s *Surface) Has(tool string) bool { return s != nil && s.Tools[tool] != nil }

// State is what the wire has proved so far.
type State struct {
	// HeadMissing says that what came before is not known whole: the log does not
	// begin where the session did, or frames are missing in it.
	HeadMissing bool
	// Initialized says that notifications/initialized has crossed.
	Initialized bool
	// Modern says that the session is of the era without initialize.
	Modern bool
	// ListRequested says that the client has asked for tools.
	ListRequested bool
	// Granted are the client's capabilities, nil while they are unknown.
	Granted map[string]bool
	// Capabilities are the server's names of its own, nil while unknown.
	Capabilities map[string]bool
	// Server, Protocol and Instructions are what the server said of itself.
	Server       wire.Implementation
	ServerInfo   json.RawMessage
	Protocol     string
	Instructions string
	// Surface is the newest complete declaration; nil is unknown, not empty.
	Surface *Surface
	// First and Last are the first complete declaration and the latest one, which
	// a notice of change retires as Surface but not as history.
	First, Last *Surface
	// Expired says that Surface is unknown because its ttlMs had passed.
	Expired bool
	// Declared says that this very event completed a declaration, Delta which
	// names differ from the first one, Redeclared which have other contents.
	Declared          bool
	Delta, Redeclared []string
	// Limits are the bounds that were met, in order.
	Limits []string

	expires    time.Time
	pages      []wire.Tool
	pagesSize  int
	pagesUntil time.Time
	cursor     string
	generation int
	counter    int
	inFlight   bool
}

// limit notes a bound once.
func (s *State) limit(what string) {
	if !slices.Contains(s.Limits, what) {
		s.Limits = append(s.Limits, what)
	}
}

// observe folds one event.
func (s *State) observe(e *Event) {
	s.Declared, s.Delta, s.Redeclared = false, nil, nil
	if s.Surface != nil && !s.expires.IsZero() && (e.TS.IsZero() || e.TS.After(s.expires)) {
		s.Surface, s.Expired = nil, true
	}
	switch {
	case e.Kind == Unparsed:
	case e.FromServer() && e.Kind == Response:
		s.answer(e)
	case e.FromServer():
		if e.Method == methodListChanged {
			s.invalidate()
		}
	case e.Kind != Response:
		s.fromClient(e)
	}
}

var modernMeta = []byte("io.modelcontextprotocol/")

// fromClient learns from a request or a notification of the client.
func (s *State) fromClient(e *Event) {
	if !s.Modern && bytes.Contains(e.Params, modernMeta) {
		s.modern(e.Params)
	}
	switch e.Method {
	case methodInitialized:
		s.Initialized = true
	case methodInitialize:
		if caps, ok := wire.Member(e.Params, "capabilities"); ok {
			s.Granted = names(caps)
		} else if wire.Walk(e.Params, func(_, _ []byte) {}) {
			s.Granted = map[string]bool{}
		}
	case methodDiscover:
		s.Modern = true
	case methodList:
		s.ListRequested = true
		s.listing(e)
	}
}

// modern reads what each request of the era without sessions says of the client.
func (s *State) modern(params json.RawMessage) {
	meta, _ := wire.Member(params, "_meta")
	if _, ok := wire.Member(meta, "io.modelcontextprotocol/protocolVersion"); !ok {
		return
	}
	s.Modern = true
	if caps, ok := wire.Member(meta, "io.modelcontextprotocol/clientCapabilities"); ok {
		s.Granted = names(caps)
	}
}

// names are an object's keys; an empty set where it has none.
func names(obj json.RawMessage) map[string]bool {
	out := map[string]bool{}
	wire.Walk(obj, func(key, value []byte) {
		if len(out) < 256 && len(key) <= maxName && value[0] != 'n' {
			out[string(key)] = true
		}
	})
	return out
}

// listing begins a declaration, or continues the one under way.
func (s *State) listing(e *Event) {
	a := e.Asked
	switch {
	case a == nil || e.Ambiguous:
		s.abandon()
	case !a.hasCursor:
		s.abandon()
		s.counter++
		s.generation, s.inFlight = s.counter, true
		a.generation = s.generation
	case s.generation != 0 && s.pages != nil && !s.inFlight && a.cursor == s.cursor:
		s.inFlight = true
		a.generation = s.generation
	default:
		s.abandon()
	}
}

// abandon gives up a declaration under way; the current one stays.
func (s *State) abandon() {
	s.pages, s.pagesSize, s.pagesUntil, s.cursor, s.generation, s.inFlight = nil, 0, time.Time{}, "", 0, false
}

// invalidate makes the surface unknown.
func (s *State) invalidate() {
	s.Surface, s.Expired = nil, false
	s.abandon()
}

// answer learns from a response of the server.
func (s *State) answer(e *Event) {
	if e.Asked == nil {
		return
	}
	switch e.Method {
	case methodInitialize, methodDiscover:
		if e.Fault == nil {
			s.introduce(e)
		}
	case methodList:
		if e.Asked.generation != 0 && e.Asked.generation == s.generation {
			s.page(e)
		}
	}
}

// introduce reads who the server says it is.
func (s *State) introduce(e *Event) {
	wire.Walk(e.Result, func(key, value []byte) {
		switch string(key) {
		case "protocolVersion":
			s.Protocol, _ = wire.Text(value)
		case "instructions":
			s.Instructions, _ = wire.Text(value)
		case "capabilities":
			s.Capabilities = names(value)
		case "serverInfo":
			s.server(value)
		case "_meta":
			// Where the protocol without sessions puts it.
			if info, ok := wire.Member(value, "io.modelcontextprotocol/serverInfo"); ok {
				s.server(info)
			}
		case "supportedVersions":
			wire.WalkArray(value, func(i int, v []byte) {
				if i == 0 && s.Protocol == "" {
					s.Protocol, _ = wire.Text(v)
				}
			})
		}
	})
}

func (s *State) server(info []byte) {
	if len(info) > 64<<10 {
		s.limit("session_metadata")
		return
	}
	s.ServerInfo = bytes.Clone(info)
	s.Server = wire.Implementation{}
	wire.Walk(info, func(key, value []byte) {
		switch string(key) {
		case "name":
			s.Server.Name, _ = wire.Text(value)
		case "title":
			s.Server.Title, _ = wire.Text(value)
		case "version":
			s.Server.Version, _ = wire.Text(value)
		}
	})
}

// page takes one page of the declaration under way.
func (s *State) page(e *Event) {
	s.inFlight = false
	until, known := lifetime(e)
	tools, next, err := parseTools(e.Result)
	if e.Fault != nil || err || !known || e.Asked.hasCursor && s.pages == nil {
		s.invalidate()
		return
	}
	if !until.IsZero() && (s.pagesUntil.IsZero() || until.Before(s.pagesUntil)) {
		s.pagesUntil = until
	}
	s.pagesSize += len(e.Result)
	if s.pages == nil {
		s.pages = []wire.Tool{}
	}
	s.pages = append(s.pages, tools...)
	if s.pagesSize > maxSurface || len(s.pages) > maxTools || slices.ContainsFunc(tools, func(t wire.Tool) bool { return len(t.Name) > maxName }) {
		s.limit("tool_declaration")
		s.invalidate()
		return
	}
	if next != "" {
		if len(next) > maxName || e.Asked.hasCursor && next == e.Asked.cursor {
			s.invalidate()
			return
		}
		s.cursor = next
		return
	}
	s.complete(e)
}

// complete makes the collected pages the surface.
func (s *State) complete(e *Event) {
	now := &Surface{Seq: e.Seq, Tools: make(map[string]*wire.Tool, len(s.pages))}
	for i := range s.pages {
		now.Tools[s.pages[i].Name] = &s.pages[i]
	}
	for name := range now.Tools {
		now.Names = append(now.Names, name)
	}
	slices.Sort(now.Names)
	s.expires = s.pagesUntil
	before := s.Last
	s.abandon()
	s.Surface, s.Last, s.Declared, s.Expired = now, now, true, false
	if s.First == nil {
		s.First = now
		return
	}
	s.Delta = difference(s.First.Names, now.Names)
	for _, name := range now.Names {
		if old := before.Tools[name]; old != nil && !SameJSON(old.Raw, now.Tools[name].Raw) {
			s.Redeclared = append(s.Redeclared, name)
		}
	}
}

// difference lists what only one of two sorted lists has.
func difference(a, b []string) []string {
	var out []string
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			out, a = append(out, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			out, b = append(out, b[0]), b[1:]
		default:
			a, b = a[1:], b[1:]
		}
	}
	return out
}

// SameJSON compares two values by what they mean: order of members and spacing do not count.
func SameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	return bytes.Equal(Canonical(a), Canonical(b))
}

// Canonical writes a value with its keys sorted and without spaces; numbers
// stay as they were written. What is no JSON stays as it is.
func Canonical(v json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(v))
	d.UseNumber()
	var x any
	if d.Decode(&x) != nil {
		return v
	}
	out, err := json.Marshal(x)
	if err != nil {
		return v
	}
	return out
}

// parseTools reads a page strictly: a surface that holds an entry which cannot
// be read is no proof of what is outside it.
func parseTools(result json.RawMessage) (tools []wire.Tool, next string, bad bool) {
	list, ok := wire.Member(result, "tools")
	if !ok || list[0] != '[' {
		return nil, "", true
	}
	n := 0
	wire.WalkArray(list, func(_ int, _ []byte) { n++ })
	if n > maxTools {
		return nil, "", true
	}
	if cursor, ok := wire.Member(result, "nextCursor"); ok && cursor[0] != 'n' {
		if next, ok = wire.Text(cursor); !ok || next == "" {
			return nil, "", true
		}
	}
	// A member of a wrong type counts as absent; a tool without a name is missing.
	tools, _, _ = wire.ParseTools(bytes.Clone(result))
	if len(tools) != n || slices.ContainsFunc(tools, func(t wire.Tool) bool { return t.Name == "" }) {
		return nil, "", true
	}
	return tools, next, false
}

// lifetime reads ttlMs: the zero time is for ever; known is false for a promise
// that cannot be read, which proves nothing.
func lifetime(e *Event) (until time.Time, known bool) {
	ttl, ok := wire.Member(e.Result, "ttlMs")
	if !ok {
		return time.Time{}, true
	}
	n, ok := small(ttl)
	if !ok || e.TS.IsZero() || n > int64(time.Hour*24*365*10/time.Millisecond) {
		return time.Time{}, false
	}
	return e.TS.Add(time.Duration(n) * time.Millisecond), true
}
