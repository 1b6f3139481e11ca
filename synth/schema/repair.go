package schema

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// repairer drops what is malformed from a schema that no draft accepts, as
// most clients and servers do by ignoring it.
type repairer struct {
	re    *engine
	notes []string
}

const maxNotes = 20

func (r *repairer) note(format string, args ...any) {
	if len(r.notes) <= maxNotes {
		r.notes = append(r.notes, fmt.Sprintf(format, args...))
	}
}

// shapes of keywords' values, by what may stand there.
var (
	schemaKeywords = set("additionalProperties", "additionalItems", "contains", "not", "if", "then", "else",
		"propertyNames", "unevaluatedItems", "unevaluatedProperties", "contentSchema", "items")
	schemaMaps   = set("properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies")
	schemaLists  = set("allOf", "anyOf", "oneOf", "prefixItems")
	countWords   = set("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains")
	numberWords  = set("minimum", "maximum", "multipleOf")
	stringWords  = set("pattern", "format", "title", "description", "$ref", "$dynamicRef", "$recursiveRef", "$anchor", "$id", "$comment", "$dynamicAnchor")
	droppedWords = set("$schema", "$vocabulary", "id")
	typeNames    = set("null", "boolean", "number", "integer", "string", "array", "object")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// schema returns a copy in which every keyword is well formed.
func (r *repairer) schema(v any, depth int) any {
	m, ok := v.(map[string]any)
	if !ok {
		if b, isBool := v.(bool); isBool {
			return b
		}
		r.note("a schema that is neither an object nor a boolean was read as true")
		return true
	}
	out := make(map[string]any, len(m))
	for _, k := range sortedKeys(m) {
		if w, keep := r.keyword(k, m[k], depth); keep {
			out[k] = w
		} else if !droppedWords[k] {
			r.note("malformed keyword %q was left out", clip(k))
		}
	}
	return out
}

func (r *repairer) keyword(k string, v any, depth int) (any, bool) {
	switch {
	case droppedWords[k]:
		return nil, false
	case schemaKeywords[k]:
		if list, ok := v.([]any); ok && k == "items" {
			return r.list(list, depth), true
		}
		return r.schema(v, depth+1), true
	case schemaMaps[k]:
		return r.schemaMap(k, v, depth)
	case schemaLists[k]:
		list, ok := v.([]any)
		if !ok || len(list) == 0 {
			return nil, false
		}
		return r.list(list, depth), true
	case countWords[k]:
		n, ok := v.(json.Number)
		return v, ok && !strings.HasPrefix(string(n), "-") && isWhole(n)
	case numberWords[k]:
		n, ok := v.(json.Number)
		return v, ok && (k != "multipleOf" || positive(n))
	case stringWords[k]:
		return r.text(k, v)
	}
	return r.other(k, v)
}

func (r *repairer) text(k string, v any) (any, bool) {
	s, ok := v.(string)
	if ok && k == "pattern" {
		_, err := r.re.compile(s)
		ok = err == nil
	}
	return v, ok
}

// other covers the keywords whose values have shapes of their own.
func (r *repairer) other(k string, v any) (any, bool) {
	switch k {
	case "type":
		return typeWord(v)
	case "required":
		list, ok := v.([]any)
		if !ok {
			return nil, false
		}
		return distinctStrings(list), true
	case "enum":
		list, ok := v.([]any)
		return v, ok && len(list) > 0
	case "examples":
		_, ok := v.([]any)
		return v, ok
	case "uniqueItems", "readOnly", "writeOnly", "deprecated", "$recursiveAnchor":
		_, ok := v.(bool)
		return v, ok
	case "exclusiveMinimum", "exclusiveMaximum":
		_, ok := v.(json.Number)
		return v, ok
	case "dependentRequired":
		_, ok := v.(map[string]any)
		return v, ok
	}
	return v, true
}

func (r *repairer) list(list []any, depth int) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = r.schema(item, depth+1)
	}
	return out
}

func (r *repairer) schemaMap(k string, v any, depth int) (any, bool) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	out := make(map[string]any, len(m))
	for _, name := range sortedKeys(m) {
		if k == "patternProperties" {
			if _, err := r.re.compile(name); err != nil {
				r.note("expression %q does not compile", clip(name))
				continue
			}
		}
		if list, isList := m[name].([]any); isList && k == "dependencies" {
			out[name] = distinctStrings(list)
			continue
		}
		out[name] = r.schema(m[name], depth+1)
	}
	return out, true
}

// references drops each reference that leads nowhere inside the document.
func (r *repairer) references(doc any) { r.dropReferences(doc, doc) }

func (r *repairer) dropReferences(v, doc any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			if s, ok := v[k].(string); ok && !leads(doc, s) {
				r.note("reference %q leads nowhere inside the schema and was left out", clip(s))
				delete(v, k)
			}
		}
		for _, k := range sortedKeys(v) {
			r.dropReferences(v[k], doc)
		}
	case []any:
		for _, item := range v {
			r.dropReferences(item, doc)
		}
	}
}

// leads says whether a reference is a JSON pointer to a schema of doc.
func leads(doc any, ref string) bool {
	if ref == "#" {
		return true
	}
	if !strings.HasPrefix(ref, "#/") {
		return false
	}
	v, ok := lookup(doc, ref[1:])
	if !ok {
		return false
	}
	switch v.(type) {
	case map[string]any, bool:
		return true
	}
	return false
}

func typeWord(v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return v, typeNames[v]
	case []any:
		var out []any
		for _, s := range distinctStrings(v) {
			if typeNames[s.(string)] {
				out = append(out, s)
			}
		}
		return out, len(out) > 0
	}
	return nil, false
}

func distinctStrings(list []any) []any {
	out := []any{}
	seen := map[string]bool{}
	for _, item := range list {
		if s, ok := item.(string); ok && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
