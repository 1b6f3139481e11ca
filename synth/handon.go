package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The length of an answer that is handed on to another tool: shorter ones are the dictionary's.
const (
	leastHandedOn = 16
	mostHandedOn  = 16 << 10
	// linesHandedOn is how many lines of an answer a list takes.
	linesHandedOn = 64
)

// handedOn gives a refused text the whole answer of another tool whose description names the argument: what
// sign_text answers, "a receipt", is what the argument "receipt" takes. A refused list of texts gets the answer's
// lines: what split_secret answers is the "shares" of combine_shares, and its first line the "share" of check_share. nil is for no such answer.
func (d *driver) handedOn(t *target, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		raw := given[name]
		like := handOnLike(raw)
		if like == nil || len(name) < 3 {
			continue
		}
		for _, from := range d.tools {
			if from == t || from.answered == "" {
				continue
			}
			answer := from.answered
			if !wordIn(from.decl.Description, name) {
				if !wordIn(from.decl.Description, name+"s") {
					continue
				}
				answer, _, _ = strings.Cut(strings.TrimSpace(answer), "\n") // one of several
			}
			given[name] = like(answer)
			if next := arguments(given, true); !t.wasGiven(next) {
				return next
			}
			given[name] = raw
		}
	}
	return nil
}

// handOnLike is how an answer becomes an argument of a value's kind: a text takes the whole, a list of texts its
// lines that are not empty. nil is for another kind.
func handOnLike(old json.RawMessage) func(answer string) json.RawMessage {
	var value string
	if json.Unmarshal(old, &value) == nil {
		return func(answer string) json.RawMessage { return likeOld(old, answer) }
	}
	var list []string
	if json.Unmarshal(old, &list) != nil {
		return nil
	}
	return func(answer string) json.RawMessage {
		var lines []string
		for line := range strings.Lines(answer) {
			if line = strings.TrimSpace(line); line != "" && len(lines) < linesHandedOn {
				lines = append(lines, line)
			}
		}
		b, err := json.Marshal(lines)
		if err != nil {
			return old
		}
		return b
	}
}

// keep keeps what a tool answered for others that take it.
func (d *driver) keep(t *target, text string) {
	if t.what == WhatTool && len(text) >= leastHandedOn && len(text) <= mostHandedOn && d.harmless(text) {
		t.answered = text
	}
}
