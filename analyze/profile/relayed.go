package profile

import (
	"bytes"
	neturl "net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The kinds of a Source.
const (
	SourceTool     = "tool"     // the arguments of another call of a tool
	SourcePrompt   = "prompt"   // the arguments of a prompt
	SourceClient   = "client"   // the client's answer to a request of the server's
	SourceIdentity = "identity" // the user's name or home directory
	SourceDocument = "document" // a text file of the user's
)

// Source says where a server has a text from.
type Source struct {
	// Kind is one of the kinds above; Name is the tool's or the prompt's name, the path of the file, or "user name".
	Kind, Name string
}

// Relayed says that a peer was sent during a call what that call was not given, or outside of calls (Call 0) what one
// was given.
type Relayed struct {
	Carried
	// Word is the text that was sent, and Sources are all that gave it to the server, at most
	// maxSources.
	Word    string
	Sources []Source
}

// The bounds of what is remembered: the texts of a run, the sources of one text, and the length
// of a user's name that is told from chance.
const (
	maxGiven   = 256
	maxSources = 4
	leastUser  = 4
)

// givenText is a text that the server was given.
type givenText struct {
	word    string
	sources []Source
	// first is the call in which it was given first, 0 for before any.
	first int
	forms forms
	// whole says that letters and digits beside it make it another text.
	whole bool
}

// relays remembers the texts by which a server can be seen to send what a call was not given.
type relays struct {
	given []*givenText
	index map[string]int
	// documents counts those of given that are of a document.
	documents int
	// arguments are the frames of calls, empty where what a call was given itself counts too.
	arguments map[int][]byte
	// literals are the texts of the server's own source, with a zero byte between them.
	literals string
}

// know remembers who the user is.
func (t *relays) know(home string) {
	t.index, t.arguments = map[string]int{}, map[int][]byte{}
	user := path.Base(home)
	if len(user) < leastUser || home == "/root" {
		return
	}
	t.given = append(t.given, &givenText{word: user, sources: []Source{{SourceIdentity, "user name"}}, whole: true,
		forms: forms{exact: [][]byte{[]byte(user), []byte(home), []byte(neturl.QueryEscape(home))}}})
}

// read remembers a line of each document: who sends it has read the document.
func (t *relays) read(documents []session.Document) {
	for _, d := range documents {
		known := len(t.given)
		t.give([]string{d.Line}, Source{SourceDocument, d.Path}, 0)
		if len(t.given) > known {
			g := t.given[known]
			g.forms.exact = append(g.forms.exact, []byte(neturl.QueryEscape(d.Line)), []byte(neturl.PathEscape(d.Line)))
			t.documents++
		}
	}
}

// quote notes the documents of which a frame of the client's holds the line: the server has it from there, too.
func (t *relays) quote(frame []byte, from Source) {
	seen := 0
	for _, g := range t.given {
		if seen == t.documents {
			return
		}
		if g.sources[0].Kind != SourceDocument {
			continue
		}
		seen++
		if len(g.sources) < maxSources && !slices.Contains(g.sources, from) && bytes.Contains(frame, []byte(g.word)) {
			g.sources = append(g.sources, from)
		}
	}
}

// call remembers the frame of a call, nil for one whose own arguments count, and the words of its arguments.
func (t *relays) call(call int, from Source, frame []byte, words []string) {
	if call > 0 && len(t.arguments) < maxEffects {
		t.arguments[call] = append(t.arguments[call], frame...)
	}
	t.quote(frame, from)
	t.give(words, from, call)
}

// give remembers words and their source.
func (t *relays) give(words []string, from Source, call int) {
	for _, word := range words {
		if strings.Contains(t.literals, word) {
			continue // the server has it from itself
		}
		i, known := t.index[word]
		if !known {
			if len(t.given) >= maxGiven {
				return
			}
			i = len(t.given)
			t.index[word] = i
			t.given = append(t.given, &givenText{word: word, first: call, forms: formsOf(word)})
		}
		if g := t.given[i]; len(g.sources) < maxSources && !slices.Contains(g.sources, from) {
			g.sources = append(g.sources, from)
		}
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
		b.relayedBy(f, call, v.at[begin].time, v.data[v.at[begin].offset:end])
	}
}

// relayedBy notes what one call sent over a flow, or the server outside of calls.
func (b *Builder) relayedBy(f *flow, call int, at time.Duration, data []byte) {
	arguments, known := b.relays.arguments[call]
	if !known && call > 0 {
		return // what it was given itself is not known
	}
	s := sentOf(data)
	for _, g := range b.relays.given {
		if g.first <= call && call > 0 || call == 0 && !g.whole {
			if g.standsIn(s) && !wasGiven(arguments, g.word) {
				f.relays(g, carriedAt{call, at})
			}
		}
	}
}

// wasGiven reports whether a text stands in arguments, or does once a client has escaped them for an address.
func wasGiven(arguments []byte, word string) bool {
	return bytes.Contains(arguments, []byte(word)) || strings.Contains(neturl.QueryEscape(string(arguments)), word)
}

// relayedAt is a text, the call that sent it, and when.
type relayedAt struct {
	carriedAt
	text *givenText
}

func (g *givenText) standsIn(s sent) bool {
	if !g.whole {
		return g.forms.in(s)
	}
	return slices.ContainsFunc(g.forms.exact, func(form []byte) bool { return standsAlone(s.data, form) })
}

// standsAlone reports whether a form stands in a text with no letter or digit beside it.
func standsAlone(text, form []byte) bool {
	word := func(i int) bool { return i >= 0 && i < len(text) && isWord(rune(text[i])) }
	for at := 0; ; {
		i := bytes.Index(text[at:], form)
		if i < 0 {
			return false
		}
		begin, end := at+i, at+i+len(form)
		if !word(begin-1) && !word(end) {
			return true
		}
		at = end
	}
}

// relayedOver adds what a flow relayed, once every address has its name.
func (b *Builder) relayedOver(f *flow) {
	for _, r := range f.relayed {
		if len(b.out.Relayed) >= maxCarried {
			return
		}
		b.out.Relayed = append(b.out.Relayed, Relayed{
			Carried: b.carriedIn(f, r.carriedAt, whoSent(r.call)+" sent “"+r.text.word+"”"),
			Word:    r.text.word, Sources: slices.Clone(r.text.sources),
		})
	}
}

// whoSent names a call, or the server outside of calls.
func whoSent(call int) string {
	if call == 0 {
		return "outside of calls the server"
	}
	return "call " + strconv.Itoa(call)
}
