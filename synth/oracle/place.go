package oracle

import (
	"bytes"
	"encoding/json"
	"sort"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Place is a string within a tool's arguments.
type Place struct {
	// At is its JSON pointer.
	At string
	// Name is the name of the nearest member.
	Name string
	// Value is what stands there.
	Value string
}

// Within says that the place is a member of the arguments, or lies within it.
func (p *Place) Within(member string) bool {
	at := "/" + session.EscapePointer(member)
	return p.At == at || strings.HasPrefix(p.At, at+"/")
}

// The bounds of what is searched for places.
const (
	maxPlaces = 1000
	maxDepth  = 6
)

// Places finds the strings of an object, those near the top first; of an array
// only its first element is looked at.
func Places(args json.RawMessage) []Place {
	v, ok := decode(args)
	if !ok {
		return nil
	}
	var out []Place
	var walk func(at, name string, v any, depth int)
	walk = func(at, name string, v any, depth int) {
		if depth > maxDepth {
			return
		}
		switch v := v.(type) {
		case string:
			out = append(out, Place{at, name, v})
		case []any:
			if len(v) > 0 {
				walk(at+"/0", name, v[0], depth+1)
			}
		case map[string]any:
			for _, k := range keys(v) {
				walk(at+"/"+session.EscapePointer(k), k, v[k], depth+1)
			}
		}
	}
	walk("", "", v, 0)
	sort.SliceStable(out, func(i, j int) bool { return strings.Count(out[i].At, "/") < strings.Count(out[j].At, "/") })
	return out[:min(len(out), maxPlaces)]
}

// Put is args with the string at a pointer replaced; ok is false where there is none.
func Put(args json.RawMessage, at, text string) (out json.RawMessage, ok bool) {
	v, ok := decode(args)
	if !ok {
		return nil, false
	}
	if ok = put(v, strings.Split(strings.TrimPrefix(at, "/"), "/"), text); !ok {
		return nil, false
	}
	return encode(v)
}

func put(v any, way []string, text string) bool {
	last := len(way) == 1
	switch v := v.(type) {
	case map[string]any:
		k := session.UnescapePointer(way[0])
		if last {
			_, ok := v[k].(string)
			if ok {
				v[k] = text
			}
			return ok
		}
		return put(v[k], way[1:], text)
	case []any:
		i, err := strconv.Atoi(way[0])
		if err != nil || i < 0 || i >= len(v) {
			return false
		}
		if last {
			_, ok := v[i].(string)
			if ok {
				v[i] = text
			}
			return ok
		}
		return put(v[i], way[1:], text)
	}
	return false
}

func decode(raw json.RawMessage) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	return v, d.Decode(&v) == nil
}

func encode(v any) (json.RawMessage, bool) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return nil, false
	}
	return bytes.TrimRight(b.Bytes(), "\n"), true
}

func keys(m map[string]any) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
