package analyze

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// prompts are what a server said each time that a prompt was asked for, without what it was given.
type prompts struct {
	// names are the prompts that calls asked for; said are the sentences of each prompt's first answer.
	names map[int]string
	said  map[string][]string
	// given are the texts of all calls' arguments.
	given map[string]bool
}

// The bounds of what is remembered of prompts, and how many words a sentence has to have that
// is told as new: less may be a word of the server's data.
const (
	maxPrompts    = 256
	maxGivenTexts = 4096
	leastShort    = 3
	leastWords    = 6
)

func newPrompts() prompts {
	return prompts{names: map[int]string{}, said: map[string][]string{}, given: map[string]bool{}}
}

// asked remembers a call's arguments, and the prompt that it asks for.
func (p *prompts) asked(call int, method, name string, args json.RawMessage) {
	for _, s := range stringsOf(args) {
		if len(s) >= leastShort && len(p.given) < maxGivenTexts {
			p.given[s] = true
		}
	}
	if method == "prompts/get" {
		p.names[call] = name
	}
}

// stringsOf are the texts of a JSON value, longest first.
func stringsOf(v json.RawMessage) []string {
	all := map[string]bool{}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all[v] = true
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	var value any
	if json.Unmarshal(v, &value) == nil {
		walk(value)
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b string) int { return len(b) - len(a) })
}

var (
	sentenceEnds = lazyregexp.New(`[.;!?](?:\s+|$)|\n`)
	anyDigits    = lazyregexp.New(`[0-9]+`)
)

// givenValue stands for a value that a prompt was given.
const givenValue = "\x00"

// sentences are those of a prompt's messages, without the values that it was given and without numbers.
func sentences(result, args json.RawMessage) []string {
	var r struct {
		Messages []struct {
			Content struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"messages"`
	}
	if json.Unmarshal(result, &r) != nil {
		return nil
	}
	values := stringsOf(args)
	var out []string
	for _, m := range r.Messages {
		text := m.Content.Text
		for _, v := range values {
			if v != "" {
				text = strings.ReplaceAll(text, v, givenValue)
			}
		}
		for _, s := range sentenceEnds.Split(anyDigits.ReplaceAllString(text, ""), -1) {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

// gotPrompt compares a prompt's answer with its first: one that says all that it said, and
// more that no call gave the server, is another prompt than the user approved.
func (w *wireReader) gotPrompt(seq uint64, call int, result json.RawMessage) {
	name, ok := w.prompts.names[call]
	now := sentences(result, w.args.of[call])
	if !ok || len(now) == 0 {
		return
	}
	before, known := w.prompts.said[name]
	if !known {
		if len(w.prompts.said) < maxPrompts {
			w.prompts.said[name] = now
		}
		return
	}
	if slices.ContainsFunc(before, func(s string) bool { return !slices.Contains(now, s) }) {
		return
	}
	for _, s := range now {
		if slices.Contains(before, s) || len(strings.Fields(s)) < leastWords || w.prompts.wasGiven(s) {
			continue
		}
		change := wire.Change{Tool: name, Kind: wire.Redeclared}
		w.changed(seq, "prompt", change, rules.Difference{Added: s})
		return
	}
}

// wasGiven reports whether a sentence holds what a call gave the server.
func (p *prompts) wasGiven(sentence string) bool {
	for g := range p.given {
		if strings.Contains(sentence, g) {
			return true
		}
	}
	return strings.Contains(sentence, givenValue)
}
