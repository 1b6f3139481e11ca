package synth

import (
	"encoding/json"
	"maps"
	"slices"
)

// The length of an answer that is handed on to another tool: shorter ones are the dictionary's.
const (
	leastHandedOn = 16
	mostHandedOn  = 16 << 10
)

// handedOn gives a refused text the whole answer of another tool whose description names the argument: what
// sign_text answers, "a receipt", is what the argument "receipt" takes. nil is for no such answer.
func (d *driver) handedOn(t *target, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		raw := given[name]
		var value string
		if json.Unmarshal(raw, &value) != nil || len(name) < 3 {
			continue
		}
		for _, from := range d.tools {
			if from == t || from.answered == "" || from.answered == value || !wordIn(from.decl.Description, name) {
				continue
			}
			given[name] = likeOld(raw, from.answered)
			if next := arguments(given, true); !t.wasGiven(next) {
				return next
			}
			given[name] = raw
		}
	}
	return nil
}

// keep keeps what a tool answered for others that take it.
func (d *driver) keep(t *target, text string) {
	if t.what == WhatTool && len(text) >= leastHandedOn && len(text) <= mostHandedOn && d.harmless(text) {
		t.answered = text
	}
}
