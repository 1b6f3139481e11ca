package oracle

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Inner is a place within an argument that the schema says nothing of: in a text that is JSON, or base64 of JSON as
// cursors are, or in an object without members.
type Inner struct {
	// At and Name are those of the argument, or of the member in its JSON text.
	At, Name string
	// Put is the arguments with a text in the place; ok is false where it cannot stand there.
	Put func(text string) (args json.RawMessage, ok bool)
}

// jsonName is the name of an argument whose text is likely to be read as JSON.
var jsonName = regexp.MustCompile(`(?i)json|config|payload|params|options|settings|metadata|variables|arguments|headers|context`)

// innerWords are members that code likes to read of an object.
var innerWords = []string{"command", "cmd", "path", "file", "url", "code", "name", "query", "value", "type"}

// maxInner bounds the places, maxInnerWords the members of one object.
const maxInner, maxInnerWords = 8, 40

// Inners finds the places within the arguments. A JSON object and an object without members
// get a member of each name that the source has, all with the same text.
func Inners(args json.RawMessage, words []string) []Inner {
	names := slices.Concat(innerWords, words)
	names = names[:min(len(names), maxInnerWords)]
	var out []Inner
	for _, p := range Places(args) {
		inside, wrap := json.RawMessage(strings.TrimSpace(p.Value)), func(text []byte) string { return string(text) }
		if data, encoding := opaque(p.Value); encoding != nil {
			inside, wrap = data, encoding.EncodeToString
		}
		v, isJSON := decode(inside)
		object, isObject := v.(map[string]any)
		if isJSON {
			for _, q := range Places(inside) {
				out = append(out, Inner{At: p.At, Name: q.Name, Put: func(text string) (json.RawMessage, bool) {
					changed, ok := Put(inside, q.At, text)
					if !ok {
						return nil, false
					}
					return Put(args, p.At, wrap(changed))
				}})
			}
		}
		if isObject || !isJSON && jsonName.MatchString(p.Name) {
			out = append(out, Inner{At: p.At, Name: p.Name, Put: func(text string) (json.RawMessage, bool) {
				object, ok := encode(filled(object, names, text))
				if !ok {
					return nil, false
				}
				return Put(args, p.At, wrap(object))
			}})
		}
	}
	for _, way := range empty(args) {
		at := "/" + strings.Join(way, "/")
		out = append(out, Inner{At: at, Name: session.UnescapePointer(way[len(way)-1]), Put: func(text string) (json.RawMessage, bool) {
			v, ok := decode(args)
			if !ok || !fill(v, way, filled(nil, names, text)) {
				return nil, false
			}
			return encode(v)
		}})
	}
	return out[:min(len(out), maxInner)]
}

// leastOpaque is the shortest text that is taken for base64.
const leastOpaque = 12

// opaque is the JSON object or array in a text that is base64, with the encoding, nil for any other text.
func opaque(text string) (json.RawMessage, *base64.Encoding) {
	if len(text) < leastOpaque {
		return nil, nil
	}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
		data, err := e.DecodeString(text)
		if err == nil && len(data) > 0 && (data[0] == '{' || data[0] == '[') && json.Valid(data) {
			return data, e
		}
	}
	return nil, nil
}

// filled is an object with a text as each of the members that it lacks.
func filled(object map[string]any, names []string, text string) map[string]any {
	out := map[string]any{}
	for _, n := range names {
		out[n] = text
	}
	maps.Copy(out, object)
	return out
}

// empty are the ways to the objects without members below the arguments themselves.
func empty(args json.RawMessage) [][]string {
	v, ok := decode(args)
	if !ok {
		return nil
	}
	var out [][]string
	var walk func(way []string, v any)
	walk = func(way []string, v any) {
		object, ok := v.(map[string]any)
		if !ok || len(way) > maxDepth {
			return
		}
		if len(object) == 0 && len(way) > 0 {
			out = append(out, way)
		}
		for _, k := range keys(object) {
			walk(append(slices.Clone(way), session.EscapePointer(k)), object[k])
		}
	}
	walk(nil, v)
	return out
}

// fill puts members into the object to which a way leads.
func fill(v any, way []string, members map[string]any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if len(way) == 0 {
		for k, m := range members {
			object[k] = m
		}
		return true
	}
	return fill(object[session.UnescapePointer(way[0])], way[1:], members)
}
