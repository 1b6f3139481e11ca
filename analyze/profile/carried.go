package profile

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

// Carried says that a peer was sent what a call was given.
type Carried struct {
	Call int
	Tool string
	// Peer is "host:port" or "address:port", Host the name that led there, "" for none.
	Peer, Host string
	// Via is the channel ("https", "tcp" …).
	Via string
	// Loopback says that the peer was a port of the machine itself.
	Loopback bool
	Evidence finding.Evidence
}

// The bounds of what is looked for: how long a text is that is told from chance, how many
// of a call are remembered, and how many sightings are kept.
const (
	leastWord  = 8
	maxWords   = 32
	maxCarried = 1000
)

// words remembers what the call under way is given.
func (b *Builder) words(raw []byte) {
	var m struct {
		Method string `json:"method"`
		Params struct {
			Arguments any `json:"arguments"`
		} `json:"params"`
	}
	if b.call == 0 || len(b.givenWords) >= maxEffects || json.Unmarshal(raw, &m) != nil || m.Method != "tools/call" {
		return
	}
	if words := b.argumentWords(m.Params.Arguments, nil); len(words) > 0 {
		b.givenWords[b.call] = words
	} else {
		delete(b.givenWords, b.call)
	}
}

// argumentWords are of each text the longest word of letters and digits, which no encoding of
// texts touches. A word of the decoys, as the user's name in a key's comment, leaves with
// them, and so is none.
func (b *Builder) argumentWords(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		best := ""
		for word := range strings.FieldsFuncSeq(v[:min(len(v), 4<<10)], func(c rune) bool {
			return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
		}) {
			if len(word) >= leastWord && len(word) > len(best) && !b.inDecoys(word) {
				best = word
			}
		}
		if best != "" && len(out) < maxWords && !slices.Contains(out, best) {
			out = append(out, best)
		}
	case []any:
		for _, e := range v {
			out = b.argumentWords(e, out)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			out = b.argumentWords(v[name], out)
		}
	}
	return out
}

// inDecoys reports whether a word stands in the decoys: in their values, their paths or HOME.
func (b *Builder) inDecoys(word string) bool {
	in, known := b.decoyWords[word]
	if !known {
		in = strings.Contains(b.ctx.Home, word) || slices.ContainsFunc(b.ctx.Canaries, func(c canaries.Canary) bool {
			return strings.Contains(c.Path, word) || holdsWord([]byte(c.Value), word)
		})
		if len(b.decoyWords) < maxEffects {
			b.decoyWords[word] = in
		}
	}
	return in
}

// carries notes the calls of which a view holds what they were given.
func (b *Builder) carries(f *flow, v *view) {
	if len(b.givenWords) == 0 || f.known.Service != "" {
		return // what a service is told is read as statements
	}
	tried := map[int]bool{0: true}
	for _, m := range v.at {
		call := b.intervalAt(m.time).call
		if tried[call] || slices.ContainsFunc(f.carried, func(c carriedAt) bool { return c.call == call }) {
			continue
		}
		tried[call] = true
		if slices.ContainsFunc(b.givenWords[call], func(w string) bool { return holdsWord(v.data, w) }) {
			f.carried = append(f.carried[:len(f.carried):len(f.carried)], carriedAt{call, m.time})
		}
	}
}

// carriedAt is a call, and when what it was given was sent.
type carriedAt struct {
	call int
	at   time.Duration
}

// holdsWord reports whether a word stands in what was sent: as it is, in hexadecimal digits,
// or in base 64 from any offset.
func holdsWord(data []byte, word string) bool {
	return slices.ContainsFunc(append(encodedForms(word), word), func(form string) bool { return bytes.Contains(data, []byte(form)) })
}

// encodedForms are a word in hexadecimal digits of either case, and in base 64 from any offset.
func encodedForms(word string) []string {
	small := hex.EncodeToString([]byte(word))
	out := []string{small, strings.ToUpper(small)}
	for skip := range 3 {
		if len(word)-skip < leastWord {
			break
		}
		whole := word[skip : skip+(len(word)-skip)/3*3]
		out = append(out, base64.RawStdEncoding.EncodeToString([]byte(whole)))
	}
	return out
}

// carriedBy adds what a flow carried, once every address has its name.
func (b *Builder) carriedBy(f *flow) {
	for _, c := range f.carried {
		if len(b.out.Carried) >= maxCarried {
			return
		}
		text := "what call " + portText(uint16(c.call)) + " was given was sent to " + b.peer(f) + " over " + via(f)
		b.out.Carried = append(b.out.Carried, Carried{
			Call: c.call, Tool: b.toolOf(c.call), Peer: b.peer(f), Host: b.hostOf(f), Via: via(f), Loopback: f.known.Dest.Addr().Unmap().IsLoopback(),
			Evidence: b.flowSays(f, c.at, text),
		})
	}
}
