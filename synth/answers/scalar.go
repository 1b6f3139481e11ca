package answers

import (
	"encoding/json"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// formats are values of the formats that OpenAPI and JSON Schema name.
var formats = map[string]string{
	"date-time": "2026-01-12T08:00:00Z", "date": "2026-01-12", "time": "08:00:00Z", "duration": "P1D", "email": "alex.morgan@example.com",
	"uri": "https://www.example.com/items/1", "url": "https://www.example.com/items/1", "uri-reference": "/items/1", "iri": "https://www.example.com/items/1",
	"uuid": "6f1c1d5e-2a0b-4c3d-8e4f-5a6b7c8d9e0f", "hostname": "www.example.com", "ipv4": "192.0.2.17", "ip": "192.0.2.17", "ipv6": "2001:db8::17",
	"byte": "QXV0dW1u", "base64": "QXV0dW1u", "json-pointer": "/items/0", "regex": "^a+$",
}

// kindIn is the type that a schema asks for, "" for any: of several the first that is not null.
func kindIn(m map[string]any) string {
	switch t := m["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && (name != "null" || len(t) == 1) {
				return name
			}
		}
	}
	switch {
	case m["properties"] != nil || m["additionalProperties"] != nil:
		return "object"
	case m["items"] != nil || m["prefixItems"] != nil:
		return "array"
	case m["format"] != nil || m["pattern"] != nil:
		return "string"
	}
	return ""
}

// exampleIn is the schema's own example, where it has the type.
func exampleIn(m map[string]any, kind string) (any, bool) {
	list, _ := m["examples"].([]any)
	for _, v := range append([]any{m["example"], m["default"]}, list...) {
		switch v := v.(type) {
		case string:
			if kind == "string" && v != "" && m["pattern"] == nil && len(v) <= 1000 {
				return v, true
			}
		case float64:
			if kind == "number" || kind == "integer" && v == math.Trunc(v) {
				return v, true
			}
		case bool:
			if kind == "boolean" {
				return v, true
			}
		}
	}
	return nil, false
}

// bound is a keyword's number, or what is assumed without it.
func bound(m map[string]any, key string, without float64) float64 {
	if f, ok := m[key].(float64); ok {
		return f
	}
	return without
}

// textIn is a string of a schema's format, pattern and length, or one that its name promises.
func textIn(m map[string]any, name string) (any, bool) {
	if m["pattern"] != nil {
		return drawn(m)
	}
	format, _ := m["format"].(string)
	v, ok := formats[format]
	if !ok {
		if v, ok = valueOf(name).(string); !ok {
			v = "Autumn"
		}
	}
	if strings.HasPrefix(strings.ToLower(name), "next") && v != "" && formats["uri"] == v {
		v = "" // a list would never end
	}
	least, most := bound(m, "minLength", 0), bound(m, "maxLength", math.MaxInt32)
	n := float64(utf8.RuneCountInString(v))
	switch {
	case least > maxSample || most < least:
		return nil, false
	case n < least:
		v += strings.Repeat("n", int(least-n))
	case n > most:
		v = string([]rune(v)[:int(most)])
	}
	return v, true
}

// drawn is a string that package schema draws: it knows patterns.
func drawn(m map[string]any) (any, bool) {
	narrow := map[string]any{"type": "string"}
	for _, key := range []string{"pattern", "minLength", "maxLength"} {
		if v, ok := m[key]; ok {
			narrow[key] = v
		}
	}
	raw, err := json.Marshal(narrow)
	if err != nil {
		return nil, false
	}
	g, err := schema.New(raw, schema.Options{})
	if err != nil {
		return nil, false
	}
	out, err := g.Draw(0, schema.Typical)
	if err != nil || len(out) > maxSample {
		return nil, false
	}
	return out, true
}

// numberIn is a number within a schema's bounds.
func numberIn(m map[string]any, name string, whole bool) any {
	v := 12.0
	if strings.HasSuffix(strings.ToLower(name), "id") {
		v = 1024
	}
	least, most := bound(m, "minimum", math.Inf(-1)), bound(m, "maximum", math.Inf(1))
	step := bound(m, "multipleOf", 1)
	if step <= 0 {
		step = 1
	}
	// Draft 4 and OpenAPI 3.0 have a truth value here, and later ones a number.
	switch x := m["exclusiveMinimum"].(type) {
	case float64:
		least = x + step
	case bool:
		if x {
			least += step
		}
	}
	switch x := m["exclusiveMaximum"].(type) {
	case float64:
		most = x - step
	case bool:
		if x {
			most -= step
		}
	}
	v = min(max(v, least), most)
	if down := math.Floor(v/step) * step; (whole || m["multipleOf"] != nil) && !math.IsInf(down, 0) {
		if v = down; v < least {
			v += step
		}
	}
	return v
}
