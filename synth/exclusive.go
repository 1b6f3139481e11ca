package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// oneOf is a refusal of none, or of several, of properties that stand in for one another.
var oneOf = lazyregexp.New(`(?i)\b(?:exactly|only|at least|just|either) one of\b|\bmutually exclusive\b|\bnot both\b|\b(?:can ?not|can't|must not) (?:both|be (?:used|combined|given|provided|passed|specified|set) (?:together|simultaneously|at once|at the same time|in combination|with))\b|` +
	`\b(?:can ?not|can't|do not) (?:use|specify|combine|provide|pass|set) both\b`)

// eitherOr is one that names two, or two groups.
var eitherOr = lazyregexp.New(`(?i)\beither\b.{1,60}\bor\b`)

// exclusive leaves of the properties that a refusal names one, each in turn: of the arguments, or of an argument that is
// an object, as in "Provide exactly one of `index` or `id`. at target_page". nil is for nothing left to try.
func (d *driver) exclusive(t *target, args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	var top objectSchema
	if t.what != WhatTool || len(text) > 4096 || !oneOf.MatchString(text) && !eitherOr.MatchString(text) || json.Unmarshal(args, &given) != nil || given == nil || json.Unmarshal(t.schema(), &top) != nil {
		return nil
	}
	for _, next := range d.oneEach(t, top, given, text) {
		if args := arguments(next, true); !t.wasGiven(args) {
			return args
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var inner map[string]json.RawMessage
		var of objectSchema
		if json.Unmarshal(top.Properties[name], &of) != nil || json.Unmarshal(given[name], &inner) != nil || inner == nil {
			continue
		}
		for _, next := range d.oneEach(t, of, inner, text) {
			if args := arguments(withObject(maps.Clone(given), name, next), true); !t.wasGiven(args) {
				return args
			}
		}
	}
	return nil
}

// objectSchema is the schema of an object.
type objectSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
}

// oneEach are objects that have one each of the properties which a text names, in the text's order.
func (d *driver) oneEach(t *target, of objectSchema, given map[string]json.RawMessage, text string) (out []map[string]json.RawMessage) {
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(of.Properties)), func(name string) bool { return !wordIn(text, name) })
	if len(names) < 2 || len(names) > 2 && !oneOf.MatchString(text) {
		return nil
	}
	lowered := strings.ToLower(text)
	at := func(name string) int { return nextWord(lowered, strings.ToLower(name), 0) }
	slices.SortStableFunc(names, func(a, b string) int { return at(a) - at(b) })
	for _, keep := range names {
		next := maps.Clone(given)
		for _, name := range names {
			if name != keep {
				delete(next, name)
			}
		}
		if next[keep] == nil {
			next[keep] = d.drawOne(of.Properties[keep], keep, schema.Options{Tool: t.name, Hints: d.cfg.Hints, Object: true})
		}
		if next[keep] != nil {
			out = append(out, next)
		}
	}
	return out
}
