package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

const (
	// maxExamples bounds the examples of one tool, and exampleTime the calls of all.
	maxExamples = 24
	exampleTime = 10 * time.Second
)

// examples calls the tools as the examples in their declarations do: a tool of many actions says so which
// arguments go together.
func (d *driver) examples() {
	end := d.cfg.Now().Add(exampleTime)
	for _, t := range order(d.tools) {
		if t.gone || t.slow || t.cover.Timeouts > 0 || !d.due(t) {
			continue
		}
		for _, example := range exampleCalls(t, d.cfg.Surface.Instructions) {
			args := d.asExample(t, example)
			if args == nil || t.wasGiven(args) {
				continue
			}
			if !d.more() || d.cfg.Now().After(end) {
				return
			}
			d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: schema.Learned.String()}, 1)
		}
	}
}

// exampleCalls are the arguments that a tool's declaration, or the server's instructions, give in examples: objects
// all of whose members the tool takes, calls of the tool with named arguments, and the examples of its schema.
func exampleCalls(t *target, instructions string) (out []map[string]any) {
	var of struct {
		objectSchema
		Examples []map[string]any `json:"examples"`
	}
	if json.Unmarshal(t.schema(), &of) != nil || len(of.Properties) == 0 {
		return nil
	}
	take := func(example map[string]any) bool {
		for name := range example {
			if _, ok := of.Properties[name]; !ok {
				return false
			}
		}
		if len(example) > 0 && len(out) < maxExamples {
			out = append(out, example)
		}
		return len(example) > 0
	}
	for _, example := range of.Examples {
		take(example)
	}
	eachCall(instructions, t.name, take)
	texts := []string{t.decl.Description}
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		texts = append(texts, describedAs(t, name))
	}
	for _, text := range texts {
		eachCall(text, t.name, take)
		eachObject(text, take)
	}
	return out
}

// standsIn is a text of an example that stands for one of the caller's.
var standsIn = lazyregexp.New(`(?i)^.?$|[<>…]|\.\.\.|\byour\b|\bpath/to\b|^(?:foo|bar|baz|x{2,}|n/a)$`)

// asExample are the arguments of an example with what the tool requires beside them. Where a text stands for one of the
// caller's, or names a place that is not there, it is what would be drawn.
func (d *driver) asExample(t *target, example map[string]any) json.RawMessage {
	gen := d.generator(t)
	if gen == nil {
		return nil
	}
	least, err := gen.Draw(d.seed(t), schema.TypicalRequired)
	out, ok := membersOf(least)
	drawn := d.fullest(t, gen)
	if err != nil || !ok || drawn == nil {
		return nil
	}
	for name := range out {
		out[name] = drawn[name]
	}
	for name, value := range example {
		text, isText := value.(string)
		away := isText && (standsIn.MatchString(text) || strings.HasPrefix(text, "/") && !d.planted(text) || strings.HasPrefix(text, "~"))
		if own, ok := drawn[name]; away && ok {
			value = own
		}
		out[name] = value
	}
	made, err := json.Marshal(out)
	if err != nil {
		return nil
	}
	return made
}

// fullest are all arguments of a tool: those with which it succeeded, and beside them what is drawn. nil is for a tool
// for which nothing can be drawn.
func (d *driver) fullest(t *target, gen *schema.Generator) map[string]any {
	raw, err := gen.Draw(d.seed(t), schema.TypicalFull)
	drawn, ok := membersOf(raw)
	if err != nil || !ok {
		return nil
	}
	if worked, ok := membersOf(t.base); ok {
		maps.Copy(drawn, worked)
	}
	return drawn
}
