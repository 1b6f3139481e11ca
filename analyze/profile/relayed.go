package profile

import (
	"bytes"
	"encoding/json"
	neturl "net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// The kinds of a Source.
const (
	SourceTool     = "tool"     // the arguments of another call of a tool
	SourcePrompt   = "prompt"   // the arguments of a prompt
	SourceClient   = "client"   // the client's answer to a request of the server's
	SourceIdentity = "identity" // the user's name or home directory
)

// Source says where a server has a text from.
type Source struct {
	// Kind is one of the kinds above; Name is the tool's or the prompt's name, or "user name".
	Kind, Name string
}

// Relayed says that a peer was sent during a call what that call was not given.
type Relayed struct {
	Call int
	Tool string
	// Peer is "host:port" or "address:port", Host the name that led there, "" for none.
	Peer, Host string
	// Via is the channel ("https", "tcp" …).
	Via string
	// Loopback says that the peer was a port of the machine itself.
	Loopback bool
	// Word is the text that was sent, and Sources are all that gave it to the server, at most
	// maxSources.
	Word     string
	Sources  []Source
	Evidence finding.Evidence
}

// The bounds of what is remembered: the texts of a run, the sources of one text, the bytes of a
// frame, and the length of a user's name that is told from chance.
const (
	maxGiven   = 256
	maxSources = 4
	maxHeard   = 64 << 10
	leastUser  = 4
)

// givenText is a text that the server was given.
type givenText struct {
	word    string
	sources []Source
	// first is the call in which it was given first, 0 for before any.
	first int
	// needles are the forms in which it stands in what is sent.
	needles [][]byte
	// whole says that letters and digits beside a needle make it another text.
	whole bool
}

// relays remembers the texts by which a server can be seen to send what a call was not given.
type relays struct {
	given []*givenText
	index map[string]int
	// arguments are what each call was given, as it stood on the wire.
	arguments map[int][]byte
}

// know remembers who the user is.
func (t *relays) know(home string) {
	t.index, t.arguments = map[string]int{}, map[int][]byte{}
	user := path.Base(home)
	if len(user) < leastUser || home == "/root" {
		return
	}
	t.given = append(t.given, &givenText{word: user, sources: []Source{{SourceIdentity, "user name"}}, whole: true,
		needles: [][]byte{[]byte(user), []byte(neturl.QueryEscape(home)), []byte(home)}})
}

// give remembers a word and its source.
func (t *relays) give(word string, from Source, call int) {
	i, known := t.index[word]
	if !known {
		if len(t.given) >= maxGiven {
			return
		}
		i = len(t.given)
		t.index[word] = i
		t.given = append(t.given, &givenText{word: word, first: call, needles: needlesOf(word)})
	}
	if g := t.given[i]; len(g.sources) < maxSources && !slices.Contains(g.sources, from) {
		g.sources = append(g.sources, from)
	}
}

// hears takes a frame of the client's: the arguments of a tool or a prompt, or an answer.
func (b *Builder) hears(raw []byte) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Name      string `json:"name"`
			Arguments any    `json:"arguments"`
		} `json:"params"`
		Result struct {
			Content any `json:"content"`
		} `json:"result"`
	}
	if len(raw) > maxHeard || json.Unmarshal(raw, &m) != nil {
		return
	}
	from, given := Source{Name: m.Params.Name}, m.Params.Arguments
	switch m.Method {
	case "tools/call":
		from.Kind = SourceTool
	case "prompts/get":
		from.Kind = SourcePrompt
	case "":
		from, given = Source{Kind: SourceClient, Name: "the client's answer"}, m.Result.Content
	default:
		return
	}
	if m.Method != "" && b.call > 0 && len(b.relays.arguments) < maxEffects {
		b.relays.arguments[b.call] = append(b.relays.arguments[b.call], raw...)
	}
	for _, word := range b.argumentWords(given, nil) {
		b.relays.give(word, from, b.call)
	}
}

// relayedIn notes the texts that a view holds and that the call in which it sent them was not given.
func (b *Builder) relayedIn(f *flow, v *view) {
	if len(b.relays.given) == 0 || f.known.Service != "" {
		return
	}
	for i := 0; i < len(v.at); {
		call, begin := b.intervalAt(v.at[i].time).call, i
		for i < len(v.at) && b.intervalAt(v.at[i].time).call == call {
			i++
		}
		end := int64(len(v.data))
		if i < len(v.at) {
			end = v.at[i].offset
		}
		if call > 0 {
			b.relayedBy(f, call, v.at[begin].time, v.data[v.at[begin].offset:end])
		}
	}
}

// relayedBy notes what one call sent over a flow.
func (b *Builder) relayedBy(f *flow, call int, at time.Duration, data []byte) {
	prompt := b.isPrompt(call)
	for _, g := range b.relays.given {
		if g.first > call || len(f.relayed) >= maxCarried || !g.standsIn(data) {
			continue
		}
		// A prompt has no declaration of what it sends, so that its own arguments count.
		if !prompt && bytes.Contains(b.relays.arguments[call], []byte(g.word)) {
			continue
		}
		if !slices.ContainsFunc(f.relayed, func(r relayedAt) bool { return r.call == call && r.text == g }) {
			f.relayed = append(f.relayed[:len(f.relayed):len(f.relayed)], relayedAt{call, at, g})
		}
	}
}

// isPrompt reports whether a call asked for a prompt.
func (b *Builder) isPrompt(call int) bool {
	i, ok := slices.BinarySearchFunc(b.out.Calls, call, func(c Call, n int) int { return c.N - n })
	return ok && b.out.Calls[i].What == SourcePrompt
}

// relayedAt is a text, the call that sent it, and when.
type relayedAt struct {
	call int
	at   time.Duration
	text *givenText
}

// needlesOf are the forms of holdsWord.
func needlesOf(word string) [][]byte {
	out := [][]byte{[]byte(word)}
	for _, form := range encodedForms(word) {
		out = append(out, []byte(form))
	}
	return out
}

func (g *givenText) standsIn(data []byte) bool {
	return slices.ContainsFunc(g.needles, func(n []byte) bool {
		for rest := data; ; {
			i := bytes.Index(rest, n)
			if i < 0 {
				return false
			}
			if !g.whole || !wordAt(rest, i-1) && !wordAt(rest, i+len(n)) {
				return true
			}
			rest = rest[i+len(n):]
		}
	})
}

// wordAt reports whether a letter or digit stands at a place.
func wordAt(data []byte, i int) bool {
	return i >= 0 && i < len(data) && strings.IndexByte("0123456789abcdefghijklmnopqrstuvwxyz", data[i]|0x20) >= 0 && data[i] != ' '
}

// relayedOver adds what a flow relayed, once every address has its name.
func (b *Builder) relayedOver(f *flow) {
	for _, r := range f.relayed {
		if len(b.out.Relayed) >= maxCarried {
			return
		}
		b.out.Relayed = append(b.out.Relayed, Relayed{
			Call: r.call, Tool: b.toolOf(r.call), Peer: b.peer(f), Host: b.hostOf(f), Via: via(f), Loopback: f.known.Dest.Addr().Unmap().IsLoopback(),
			Word: r.text.word, Sources: slices.Clone(r.text.sources),
			Evidence: b.flowSays(f, r.at, "call "+strconv.Itoa(r.call)+" sent “"+r.text.word+"” to "+b.peer(f)+" over "+via(f)),
		})
	}
}
