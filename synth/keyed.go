package synth

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var (
	// fileInText is the name of a file that a text has as a word.
	fileInText = lazyregexp.New(`(?:^|[\s"'` + "`" + `(])([A-Za-z_][\w@+-]{0,60}(?:\.[\w-]{1,20}){0,2}\.[A-Za-z][A-Za-z0-9]{0,9})(?:$|[\s"'` + "`" + `),;:.])`)
	// lackedKey is a quoted name of what a refusal misses in an object.
	lackedKey = lazyregexp.New(`(?i)\b(?:contains?|have|has|includes?|missing|requires?|needs?|lacks?|without|no|define)\s+(?:(?:an?|the|at least one|no|required|field|key|property|entry|member) ){0,3}['"` + "`" + `]([A-Za-z_][\w.-]{0,40})['"` + "`" + `]`)
)

// maxKeys bounds what one refusal adds to an object.
const maxKeys = 4

// keyed puts into an argument that is an object of free names what a refusal misses there, as "App.svelte" for "the
// files must contain an App.svelte file". nil is for no such argument, or nothing missed.
func (l *learner) keyed(t *target, args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	var names []string
	for _, re := range []*lazyregexp.Regexp{fileInText, lackedKey} {
		for _, m := range re.FindAllStringSubmatch(text, maxKeys) {
			if _, isArgument := given[m[1]]; !isArgument && !slices.Contains(names, m[1]) {
				names = append(names, m[1])
			}
		}
	}
	if len(names) == 0 {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		var object map[string]json.RawMessage
		value := freeValue(t, name)
		if value == nil || json.Unmarshal(given[name], &object) != nil || object == nil || !wordIn(text, name) {
			continue
		}
		before := len(object)
		for _, key := range names {
			if object[key] == nil {
				object[key] = value
			}
		}
		return arguments(withObject(given, name, object), len(object) > before)
	}
	return nil
}

// withObject puts an object under an argument's name.
func withObject(given map[string]json.RawMessage, name string, object map[string]json.RawMessage) map[string]json.RawMessage {
	if raw, err := json.Marshal(object); err == nil {
		given[name] = raw
	}
	return given
}

// freeValue is a value for any name of an argument that is an object, nil where its names are fixed.
func freeValue(t *target, name string) json.RawMessage {
	var s struct {
		Properties map[string]struct {
			Type                 any `json:"type"`
			AdditionalProperties any `json:"additionalProperties"`
		} `json:"properties"`
	}
	if json.Unmarshal(t.decl.InputSchema, &s) != nil || s.Properties[name].Type != "object" {
		return nil
	}
	of := s.Properties[name].AdditionalProperties
	if of == false {
		return nil
	}
	values, _ := of.(map[string]any)
	switch values["type"] {
	case "object":
		return json.RawMessage(`{}`)
	case "array":
		return json.RawMessage(`[]`)
	case "number", "integer":
		return json.RawMessage(`1`)
	case "boolean":
		return json.RawMessage(`true`)
	}
	return json.RawMessage(`"Quarterly report"`)
}
