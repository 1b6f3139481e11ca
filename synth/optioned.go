package synth

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxOptions bounds the optional arguments that are tried, one at a time, with a tool that has only refused.
const maxOptions = 8

// optioned adds the next optional argument to arguments of which a refusal says nothing that is not tried yet: some
// tools need one of several, and say so of another. It is nil where all were tried.
func (d *driver) optioned(t *target, args json.RawMessage) json.RawMessage {
	var given map[string]json.RawMessage
	var of struct {
		objectSchema
		Required []string `json:"required"`
	}
	if !t.rescued || t.what != WhatTool || json.Unmarshal(args, &given) != nil || given == nil || json.Unmarshal(t.schema(), &of) != nil {
		return nil
	}
	if t.plain == nil {
		t.plain = given
		maps.DeleteFunc(t.plain, func(name string, _ json.RawMessage) bool { return !slices.Contains(of.Required, name) })
	}
	for _, name := range slices.Sorted(maps.Keys(of.Properties)) {
		if t.plain[name] != nil || t.options[name] || len(t.options) >= maxOptions {
			continue
		}
		if t.options == nil {
			t.options = map[string]bool{}
		}
		t.options[name] = true
		next := maps.Clone(t.plain)
		if next[name] = d.drawOne(of.Properties[name], name, schema.Options{Tool: t.name, Hints: d.cfg.Hints, Object: true}); next[name] == nil {
			continue
		}
		if args := arguments(next, true); !t.wasGiven(args) {
			return args
		}
	}
	return nil
}
