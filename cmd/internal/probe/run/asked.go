package run

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/synth"
)

// maxWords bounds the texts that are asked for with a call.
const maxWords = 6

// plainWords is a short text that a person might look for, without signs of a program or a path.
var plainWords = lazyregexp.New(`^[\pL\pN][\pL\pN .,:'_-]{2,79}$`)

// askedFor are the plain texts among a call's arguments, in the order of their names. What carries something to be
// proven by an effect asks for nothing: served back, it would prove itself.
func askedFor(call *synth.Call) (asked []string) {
	var args map[string]any
	if len(call.Oracles) > 0 || json.Unmarshal(call.Args, &args) != nil {
		return nil
	}
	add := func(v any) {
		if text, ok := v.(string); ok && len(asked) < maxWords && plainWords.MatchString(text) && !slices.Contains(asked, text) {
			asked = append(asked, text)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if list, ok := args[name].([]any); ok {
			for _, v := range list {
				add(v)
			}
			continue
		}
		add(args[name])
	}
	return asked
}
