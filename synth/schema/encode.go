package schema

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/url"
	"strconv"
	"strings"
)

// Value wraps a decoded JSON value, so that gopter always sees one concrete
// type: to it a bare nil would be no value at all. Numbers are json.Number.
type Value struct{ V any }

// MarshalJSON writes the canonical form: keys sorted, no space, no escape that is not needed.
func (v Value) MarshalJSON() ([]byte, error) { return appendJSON(nil, v.V), nil }

func (v Value) String() string { return string(appendJSON(nil, v.V)) }

// appendJSON is the canonical encoder.
func appendJSON(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return appendString(b, v)
	case json.Number:
		return append(b, v...)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendJSON(b, item)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, k := range sortedKeys(v) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, k)
			b = append(b, ':')
			b = appendJSON(b, v[k])
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

func appendString(b []byte, s string) []byte {
	if plainASCII(s) {
		b = append(b, '"')
		b = append(b, s...)
		return append(b, '"')
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return append(b, `""`...)
	}
	return append(b, bytes.TrimRight(buf.Bytes(), "\n")...)
}

func plainASCII(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// key is the canonical form as a map key.
func key(v any) string { return string(appendJSON(nil, v)) }

// lookup follows a JSON pointer, percent-encoded as in a fragment.
func lookup(doc any, pointer string) (any, bool) {
	if pointer == "" {
		return doc, true
	}
	for _, tok := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		if t, err := url.PathUnescape(tok); err == nil {
			tok = t
		}
		tok = strings.ReplaceAll(strings.ReplaceAll(tok, "~1", "/"), "~0", "~")
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[tok]
			if !ok {
				return nil, false
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(tok)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			doc = v[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

func rat(n json.Number) (*big.Rat, bool) {
	if checkNumber(n) != nil {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}

func isWhole(n json.Number) bool {
	if !strings.ContainsAny(string(n), ".eE") {
		return true
	}
	r, ok := rat(n)
	return ok && r.IsInt()
}

func positive(n json.Number) bool { r, ok := rat(n); return ok && r.Sign() > 0 }

// uniqueKey is the same for values that JSON Schema calls equal: 1 and 1.0.
func uniqueKey(v any) string {
	if n, ok := v.(json.Number); ok {
		if r, ok := rat(n); ok {
			return r.RatString()
		}
	}
	return key(v)
}
