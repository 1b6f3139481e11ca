package profile

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
)

// Carried says that a peer was sent a text during a call: what the call was given, except in Relayed.
type Carried struct {
	Call  int
	Tool  string
	Phase finding.Phase
	// Peer is "host:port", "address:port" or "names below domain", Host the name that led there or was asked for, ""
	// for none.
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
	if json.Unmarshal(raw, &m) != nil {
		return
	}
	switch m.Method {
	case "tools/call":
		words := b.argumentWords(m.Params.Arguments, nil)
		b.givesWords(words)
		b.givesNames(m.Params.Arguments)
		b.relays.call(b.call, Source{SourceTool, m.Params.Name}, raw, words)
	case "prompts/get":
		// A prompt has no declaration of what it sends, so that its own arguments count.
		b.relays.call(b.call, Source{SourcePrompt, m.Params.Name}, nil, b.argumentWords(m.Params.Arguments, nil))
	case "":
		b.relays.give(b.argumentWords(m.Result.Content, nil), Source{SourceClient, "the client's answer"}, b.call)
	}
}

// givesWords remembers the words of what the call under way is given.
func (b *Builder) givesWords(words []string) {
	switch {
	case b.call == 0 || len(b.givenWords) >= maxEffects:
	case len(words) > 0:
		b.givenWords[b.call] = words
	default:
		delete(b.givenWords, b.call)
	}
}

// argumentWords are of each text the longest word of letters and digits, which no encoding of
// texts touches. A word of the decoys, as the user's name in a key's comment, leaves with
// them, and so is none; a text of the source has none, since the server has it from itself.
func (b *Builder) argumentWords(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		if slices.Contains(b.ctx.Literals, v) {
			return out
		}
		best := ""
		for word := range strings.FieldsFuncSeq(v[:min(len(v), 4<<10)], func(c rune) bool { return !isWord(c) }) {
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

// isWord reports whether a character is a letter or digit that no encoding of texts touches.
func isWord(c rune) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }

// inDecoys reports whether a word stands in the decoys: in their values, their paths or HOME.
func (b *Builder) inDecoys(word string) bool {
	in, known := b.decoyWords[word]
	if !known {
		form := formsOf(word)
		in = strings.Contains(b.ctx.Home, word) || slices.ContainsFunc(b.ctx.Canaries, func(c canaries.Canary) bool {
			return strings.Contains(c.Path, word)
		}) || slices.ContainsFunc(b.decoyValues(), form.in)
		if len(b.decoyWords) < maxEffects {
			b.decoyWords[word] = in
		}
	}
	return in
}

// decoyValues are the decoys' values, as formsOf looks for words in them.
func (b *Builder) decoyValues() []sent {
	if b.decoysSent == nil {
		for _, c := range b.ctx.Canaries {
			b.decoysSent = append(b.decoysSent, sentOf([]byte(c.Value)))
		}
	}
	return b.decoysSent
}

// carries notes the calls of which a view holds what they were given.
func (b *Builder) carries(f *flow, v *view) {
	if len(b.givenWords) == 0 || f.known.Service != "" {
		return // what a service is told is read as statements
	}
	tried, sent := map[int]bool{0: true}, sentOf(v.data)
	for _, m := range v.at {
		call := b.intervalAt(m.time).call
		if tried[call] || slices.ContainsFunc(f.carried, func(c carriedAt) bool { return c.call == call }) {
			continue
		}
		tried[call] = true
		if slices.ContainsFunc(b.givenWords[call], func(w string) bool { return formsOf(w).in(sent) }) {
			f.carried = append(f.carried[:len(f.carried):len(f.carried)], carriedAt{call, m.time})
		}
	}
}

// carriedAt is a call, and when what it was given was sent.
type carriedAt struct {
	call int
	at   time.Duration
}

// sent is what was sent, and the same in small letters.
type sent struct{ data, lower []byte }

func sentOf(data []byte) sent { return sent{data, bytes.ToLower(data)} }

// forms are those in which a word stands in what was sent: as it is or in base 64 from any
// offset, and in either case in hexadecimal digits or in base 32 from any offset.
type forms struct{ exact, lower [][]byte }

func formsOf(word string) forms {
	out := forms{exact: [][]byte{[]byte(word)}, lower: [][]byte{[]byte(hex.EncodeToString([]byte(word)))}}
	for skip := range 5 {
		if whole := (len(word) - skip) / 5 * 5; whole > 0 {
			out.lower = append(out.lower, []byte(strings.ToLower(base32.StdEncoding.EncodeToString([]byte(word[skip:skip+whole])))))
		}
	}
	for skip := range 3 {
		if len(word)-skip < leastWord {
			break
		}
		whole := word[skip : skip+(len(word)-skip)/3*3]
		out.exact = append(out.exact, []byte(base64.RawStdEncoding.EncodeToString([]byte(whole))))
	}
	return out
}

func (f forms) in(s sent) bool {
	return slices.ContainsFunc(f.lower, func(form []byte) bool { return bytes.Contains(s.lower, form) }) ||
		slices.ContainsFunc(f.exact, func(form []byte) bool { return bytes.Contains(s.data, form) })
}

// carriedBy adds what a flow carried, once every address has its name.
func (b *Builder) carriedBy(f *flow) {
	for _, c := range f.carried {
		if len(b.out.Carried) >= maxCarried {
			return
		}
		b.out.Carried = append(b.out.Carried, b.carriedIn(f, c, "what call "+strconv.Itoa(c.call)+" was given was sent"))
	}
}

// carriedIn says of a flow what it carried in a call.
func (b *Builder) carriedIn(f *flow, c carriedAt, what string) Carried {
	peer, channel, host := b.peer(f), via(f), b.hostOf(f)
	if q := f.asked(c.at); q != nil {
		peer, channel, host = "names below "+domainOf(q.name), q.app, q.name
	}
	return Carried{
		Call: c.call, Tool: b.toolOf(c.call), Phase: b.intervalAt(c.at).phase, Peer: peer, Host: host, Via: channel, Loopback: f.known.Dest.Addr().Unmap().IsLoopback(),
		Evidence: b.flowSays(f, c.at, what+" to "+peer+" over "+channel),
	}
}
