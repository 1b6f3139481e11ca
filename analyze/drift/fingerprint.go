package drift

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Version is that of a Fingerprint's form.
const Version = "0.2"

// Fingerprint is what of a session can be compared. Names in it are printable.
type Fingerprint struct {
	Version         string            `json:"fingerprint_version"`
	Source          string            `json:"source"`
	FirstTS         time.Time         `json:"first_ts"`
	LastTS          time.Time         `json:"last_ts"`
	ServerName      string            `json:"server_name"`
	ServerVersion   string            `json:"server_version"`
	Protocol        string            `json:"protocol_version"`
	Capabilities    []string          `json:"capabilities"`
	Declared        []string          `json:"declared_tools"`
	Known           bool              `json:"declaration_known"`
	Called          []string          `json:"called_tools"`
	Fabricated      []string          `json:"fabricated_tools"`
	ServerRequests  []string          `json:"server_requests"`
	Hosts           []string          `json:"hosts"`
	CallCounts      map[string]int    `json:"tool_call_counts"`
	SchemaHashes    map[string]string `json:"schema_hashes"`
	Parts           map[string]Parts  `json:"declaration_hashes"`
	ServerParts     Parts             `json:"server_hashes"`
	PrematureChange bool              `json:"premature_list_changed"`
	TailOnly        bool              `json:"tail_only"`
	EventCount      int               `json:"event_count"`
	// Probe says that coalmine was the client: what it called is left out. Behaviours are then
	// what the server did, by rules.BehaviourOf, nil where that is not known.
	Probe      bool     `json:"probe,omitempty"`
	Behaviours []string `json:"deeds,omitzero"`

	schemas map[string]json.RawMessage
}

// Parts are the hashes of a declaration's parts by name: all that a model or a
// user reads of it.
type Parts map[string]string

// The bounds of one session's sets.
const (
	maxSet  = 10_000
	maxName = 200
)

// Collector builds a Fingerprint from the events of a session.
type Collector struct {
	called, fabricated, requests, hosts set
	counts                              map[string]int
	first, last                         time.Time
	events                              int
	listed                              time.Time
	lifetime                            time.Duration
	premature                           bool
	declared                            map[string]Parts
}

// NewCollector returns a Collector for one session.
func NewCollector() *Collector {
	return &Collector{called: set{}, fabricated: set{}, requests: set{}, hosts: set{}, counts: map[string]int{}, declared: map[string]Parts{}}
}

type set map[string]bool

func (s set) add(v string) {
	if len(s) < maxSet {
		s[v] = true
	}
}

func (s set) sorted() []string {
	out := make([]string, 0, len(s))
	for v := range s {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

func shown(s string) string { return text.Printable(s, maxName) }

// Event takes the next event with the session's facts after it.
func (c *Collector) Event(e *wirelog.Event, s *wire.State) {
	c.events++
	if !e.TS.IsZero() {
		if c.first.IsZero() {
			c.first = e.TS
		}
		c.last = e.TS
	}
	switch {
	case e.IsCall():
		c.call(e, s)
	case e.FromServer() && e.Kind == wire.Request:
		c.requests.add(shown(e.Method))
	case e.FromServer() && e.Kind == wire.Notification && e.Method == "notifications/tools/list_changed":
		c.premature = c.premature || c.lifetime > 0 && !e.TS.IsZero() && !e.TS.Before(c.listed) && e.TS.Before(c.listed.Add(c.lifetime))
	case e.FromServer() && e.Kind == wire.Response:
		c.answer(e)
	}
}

func (c *Collector) call(e *wirelog.Event, s *wire.State) {
	tool := ""
	if e.Asked != nil {
		tool = shown(e.Asked.Tool)
	}
	c.called.add(tool)
	if len(c.counts) < maxSet || c.counts[tool] > 0 {
		c.counts[tool]++
	}
	if e.Asked != nil && s.Surface != nil && !s.Surface.Has(e.Asked.Tool) {
		c.fabricated.add(tool)
	}
	c.addHosts(e.Args)
}

func (c *Collector) answer(e *wirelog.Event) {
	switch {
	case e.IsCallResult():
		c.addHosts(e.Result)
		c.addHosts(e.Fault)
	case e.Method == "tools/list":
		c.listed, c.lifetime = e.TS, 0
		if v, ok := wire.Member(e.Result, "ttlMs"); ok {
			var ms float64
			if json.Unmarshal(v, &ms) == nil && ms > 0 && ms < 1e12 {
				c.lifetime = time.Duration(ms * float64(time.Millisecond))
			}
		}
	case e.Page != nil:
		for i := range e.Page.Prompts {
			c.declare("prompt", e.Page.Prompts[i].Name, e.Page.Prompts[i].Raw)
		}
		for i := range e.Page.Resources {
			c.declare("resource", e.Page.Resources[i].URI, e.Page.Resources[i].Raw)
		}
		for i := range e.Page.Templates {
			c.declare("template", e.Page.Templates[i].URITemplate, e.Page.Templates[i].Raw)
		}
	}
}

// declare keeps the hashes of what is declared beside tools.
func (c *Collector) declare(what, id string, entry json.RawMessage) {
	if len(c.declared) < maxSet {
		c.declared[what+" "+shown(id)] = partsOf(entry)
	}
}

// addHosts collects the hosts of addresses in a value.
func (c *Collector) addHosts(v json.RawMessage) {
	for {
		i := bytes.Index(v, []byte("://"))
		if i < 0 {
			return
		}
		scheme := strings.ToLower(string(v[max(0, i-5):i]))
		v = v[i+3:]
		if !strings.HasSuffix(scheme, "http") && !strings.HasSuffix(scheme, "https") {
			continue
		}
		end := bytes.IndexAny(v, "/ \t\r\n\"'<>\\?#")
		if end < 0 {
			end = len(v)
		}
		host := string(v[:min(end, 255)])
		host = strings.TrimRight(host[strings.LastIndexByte(host, '@')+1:], ".,;:)]}\"'")
		if host != "" {
			c.hosts.add(shown(strings.ToLower(host)))
		}
	}
}

// Fingerprint closes the session.
func (c *Collector) Fingerprint(source string, s *wire.State, stats wirelog.Stats) *Fingerprint {
	f := &Fingerprint{
		Version: Version, Source: shown(source), FirstTS: c.first, LastTS: c.last, ServerName: shown(s.Server.Name), ServerVersion: shown(s.Server.Version),
		Protocol: shown(s.Protocol), Capabilities: set(s.Capabilities).sorted(), Declared: []string{}, Known: s.Surface != nil,
		Called: c.called.sorted(), Fabricated: c.fabricated.sorted(), ServerRequests: c.requests.sorted(), Hosts: c.hosts.sorted(), CallCounts: c.counts,
		SchemaHashes: map[string]string{}, Parts: c.declared, ServerParts: Parts{}, PrematureChange: c.premature, TailOnly: stats.HeadMissing, EventCount: c.events,
		schemas: map[string]json.RawMessage{},
	}
	for i, name := range f.Capabilities {
		f.Capabilities[i] = shown(name)
	}
	if s.Instructions != "" {
		f.ServerParts["instructions"] = hash([]byte(s.Instructions))
	}
	if s.Server.Title != "" {
		f.ServerParts["title"] = hash([]byte(s.Server.Title))
	}
	if s.Surface == nil {
		return f
	}
	for _, name := range s.Surface.Names {
		t := s.Surface.Tools[name]
		key := shown(name)
		f.Declared = append(f.Declared, key)
		f.SchemaHashes[key] = hash(wire.Canonical(orNull(t.InputSchema)))
		f.schemas[key] = t.InputSchema
		f.Parts["tool "+key] = partsOf(t.Raw)
	}
	return f
}

// unread are members of a declaration that neither a model nor a user reads.
var unread = map[string]bool{"_meta": true, "icons": true, "size": true, "lastModified": true}

// partsOf hashes each member of a declaration; null counts as absent.
func partsOf(raw json.RawMessage) Parts {
	p := Parts{}
	wire.Walk(raw, func(key, value []byte) {
		if k := string(key); !unread[k] && value[0] != 'n' && len(p) < 64 {
			p[shown(k)] = hash(wire.Canonical(value))
		}
	})
	return p
}

func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}
