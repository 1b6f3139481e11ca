package sinkhole

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// maxAsked bounds the members that a query asks for.
const maxAsked = 60

// memberName is the name of a member that a query may ask for.
var memberName = lazyregexp.New(`^[A-Za-z_]\w{0,59}$`)

// withAsked is a JSON answer whose objects have the members that the query names ("hourly=rain,snowfall"), with the
// value of a number beside them. An answer that is no object, and an object without a number, stay as they are.
func withAsked(body string, query url.Values) string {
	var answer map[string]json.RawMessage
	if len(query) == 0 || json.Unmarshal([]byte(body), &answer) != nil {
		return body
	}
	changed := false
	for _, name := range slices.Sorted(maps.Keys(query)) {
		var part map[string]json.RawMessage
		if answer[name] == nil || json.Unmarshal(answer[name], &part) != nil {
			continue
		}
		value := numberIn(part)
		for _, list := range query[name] {
			for member := range strings.SplitSeq(list, ",") {
				if _, there := part[member]; !there && value != nil && len(part) < maxAsked && memberName.MatchString(member) {
					part[member], changed = value, true
				}
			}
		}
		answer[name] = encoded(part)
	}
	if !changed {
		return body
	}
	return string(encoded(answer))
}

// numberIn is the first number of an object, or its first list that begins with one, nil for none.
func numberIn(part map[string]json.RawMessage) json.RawMessage {
	for _, name := range slices.Sorted(maps.Keys(part)) {
		v := part[name]
		if first := strings.TrimLeft(string(v), "[ "); first != "" && (first[0] == '-' || first[0] >= '0' && first[0] <= '9') {
			return v
		}
	}
	return nil
}

// encoded is a JSON object of values that were decoded before.
func encoded(v map[string]json.RawMessage) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return out
}
