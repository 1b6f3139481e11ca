package synth

import (
	"encoding/json"
	"maps"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// goesBefore is how a refusal says that something has to be done before.
var goesBefore = lazyregexp.New(`(?i)\b(?:first|before|please|need(?:s|ed)? to|must|have to|try|use|using|call|run|via)\b`)

// askedBefore is the other tool that a refusal says has to be called before, as in "not found in storage, download it
// first using download_paper". It is nil where it names none.
func (d *driver) askedBefore(t *target, text string) *target {
	if t.what != WhatTool || len(text) > 4096 || !goesBefore.MatchString(text) {
		return nil
	}
	for _, other := range d.tools {
		if other != t && !other.gone && !other.slow && len(other.name) > 3 && wordIn(text, other.name) {
			return other
		}
	}
	return nil
}

// callBefore calls the tool that the latest refusal of a target names, with the arguments that both take, and has the
// refused call made again.
func (d *driver) callBefore(t *target) {
	before, refused := t.before, t.refusedWith
	t.before = nil
	if before == nil {
		return
	}
	if args := d.shared(before, refused); args != nil && d.more() {
		d.carryOut(before, Call{What: WhatTool, Tool: before.name, Args: args, Class: schema.Learned.String()}, 1)
		t.retry, t.retryFrom = refused, d.n
	}
}

// shared are the arguments of a tool with those that it has in common with others in their place. nil is for a tool
// from whose schema nothing can be drawn.
func (d *driver) shared(t *target, others json.RawMessage) json.RawMessage {
	gen := d.generator(t)
	if gen == nil {
		return nil
	}
	own := t.base
	if own == nil {
		drawn, err := gen.Draw(d.seed(t), schema.TypicalRequired)
		if err != nil {
			return nil
		}
		own = drawn
	}
	var given, theirs map[string]json.RawMessage
	var of objectSchema
	if json.Unmarshal(own, &given) != nil || json.Unmarshal(others, &theirs) != nil || json.Unmarshal(t.schema(), &of) != nil || given == nil {
		return nil
	}
	maps.DeleteFunc(theirs, func(name string, _ json.RawMessage) bool { _, taken := of.Properties[name]; return !taken })
	maps.Copy(given, theirs)
	return arguments(given, true)
}
