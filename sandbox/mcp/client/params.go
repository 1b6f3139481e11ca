package client

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// headerParam is what the headers begin with that repeat arguments of a call, as
// the newer era has it (SEP-2243).
const headerParam = "Mcp-Param-"

// The bounds of a tool's headers.
const (
	maxBound      = 64
	maxBoundDepth = 16
	maxBoundTools = 10_000
	maxParam      = 8 << 10
)

// bound is an argument that a tool's schema wants as a header too.
type bound struct {
	header string
	path   []string
}

// bind keeps which arguments a page of tools wants as headers.
func (w *Web) bind(result json.RawMessage) {
	tools, _, _ := wire.ParseTools(result) // what can be read of it counts
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range tools {
		if len(w.bound) >= maxBoundTools {
			return
		}
		w.bound[tools[i].Name] = boundOf(tools[i].InputSchema, nil, nil)
	}
}

// boundOf lists the annotated properties of a schema, at any depth.
func boundOf(schema json.RawMessage, path []string, out []bound) []bound {
	members, _ := object(schema)
	properties, _ := object(members["properties"])
	if len(path) >= maxBoundDepth {
		return out
	}
	for name, property := range properties {
		at := slices.Concat(path, []string{name})
		members, _ := object(property)
		if h := text(members["x-mcp-header"]); token(h) && len(out) < maxBound {
			out = append(out, bound{headerParam + h, at})
		}
		out = boundOf(property, at, out)
	}
	return out
}

// tokenBytes may be in a header's name (RFC 9110).
const tokenBytes = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// token reports whether s can be a part of a header's name.
func token(s string) bool { return s != "" && len(s) <= 200 && strings.Trim(s, tokenBytes) == "" }

// params sets the headers that repeat a call's arguments. What is absent, null or
// no plain value has none.
func (w *Web) params(h http.Header, m wire.Message) {
	members, _ := object(m.Params)
	w.mu.Lock()
	bounds := w.bound[text(members["name"])]
	w.mu.Unlock()
	for _, b := range bounds {
		value := members["arguments"]
		for _, name := range b.path {
			inner, _ := object(value)
			value = inner[name]
		}
		if s, ok := paramValue(value); ok {
			h.Set(b.header, s)
		}
	}
}

// paramValue is a value as a header has it.
func paramValue(v json.RawMessage) (s string, ok bool) {
	if len(v) == 0 || len(v) > maxParam {
		return "", false
	}
	switch v[0] {
	case '{', '[', 'n':
		return "", false
	case '"':
		s = text(v)
	default:
		return string(v), true
	}
	plain := s == strings.TrimSpace(s) && !strings.ContainsFunc(s, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') })
	looksPacked := strings.HasPrefix(s, "=?base64?") && strings.HasSuffix(s, "?=")
	if plain && !looksPacked {
		return s, true
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=", true
}
