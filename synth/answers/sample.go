package answers

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// Depths of a sample: below the first, what is not required is left out, and nothing is below the second.
const maxOptional, maxRequired = 6, 24

// Sample is a JSON value that fits a schema, with values that its members' names promise. It
// reports false for a schema that nothing small fits.
func Sample(raw json.RawMessage) (string, bool) {
	const file = "schema.json"
	var v any
	if len(raw) > maxYAML || json.Unmarshal(raw, &v) != nil {
		return "", false
	}
	g, err := schema.New(raw, schema.Options{})
	if err != nil {
		return "", false
	}
	absolute(v, file)
	s := sampler{tree: &tree{names: []string{file}, parsed: map[string]any{file: v}}, left: maxShapes}
	made, ok := s.value(v, "", 0)
	body, err := json.Marshal(made)
	if !ok || err != nil || g.Check(body) != nil {
		body, err = g.Draw(0, schema.Typical)
	}
	return string(body), err == nil && len(body) <= maxSample
}

// sampler makes one example of a schema: JSON Schema (draft 4 to 2020-12) and what OpenAPI makes of it.
type sampler struct {
	tree *tree
	left int // values that may still be made
}

// value is an example; name is the member that it is for. It reports false where the schema
// leaves none, or none that is small.
func (s *sampler) value(of any, name string, depth int) (any, bool) {
	if s.left--; s.left < 0 || depth > maxRequired {
		return nil, false
	}
	if all, ok := of.(bool); ok {
		return valueOf(name), all
	}
	m := s.tree.object(of)
	if m == nil {
		return nil, false
	}
	m, ok := s.merged(m, depth)
	if !ok {
		return nil, false
	}
	if v, ok := m["const"]; ok {
		return v, true
	}
	if list, ok := m["enum"].([]any); ok {
		if i := slices.IndexFunc(list, func(v any) bool { return v != nil }); i >= 0 {
			return list[i], true
		}
		return nil, len(list) > 0
	}
	kind := kindIn(m)
	if v, ok := exampleIn(m, kind); ok {
		return v, true
	}
	switch kind {
	case "object":
		return s.object(m, depth)
	case "array":
		return s.array(m, name, depth)
	case "string":
		return textIn(m, name)
	case "integer", "number":
		return numberIn(m, name, kind == "integer"), true
	case "boolean":
		is, named := valueOf(name).(bool)
		return is || !named, true
	case "null":
		return nil, true
	}
	return valueOf(name), true
}

// merged is a schema with the parts that it is composed of: all of allOf, and the first of anyOf
// and oneOf that is not null.
func (s *sampler) merged(m map[string]any, depth int) (map[string]any, bool) {
	for _, key := range []string{"allOf", "oneOf", "anyOf"} {
		list, ok := m[key].([]any)
		if !ok {
			continue
		}
		m = maps.Clone(m)
		delete(m, key)
		found := false
		for _, part := range list {
			if s.left--; s.left < 0 || depth > maxRequired {
				return nil, false
			}
			inner := s.tree.object(part)
			if inner == nil || key != "allOf" && kindIn(inner) == "null" {
				continue
			}
			if inner, ok = s.merged(inner, depth+1); !ok {
				continue
			}
			m, found = together(m, inner), true
			if key != "allOf" {
				tell(m, part)
				break
			}
		}
		if !found {
			return nil, false
		}
	}
	return m, true
}

// together is a schema that asks for what two ask for: their members and what each requires. Of other
// keywords those of the first stay.
func together(a, b map[string]any) map[string]any {
	out := maps.Clone(b)
	maps.Copy(out, a)
	mine, _ := a["properties"].(map[string]any)
	theirs, _ := b["properties"].(map[string]any)
	if mine != nil && theirs != nil {
		both := maps.Clone(theirs)
		maps.Copy(both, mine)
		out["properties"] = both
	}
	one, _ := a["required"].([]any)
	two, _ := b["required"].([]any)
	if len(one) > 0 && len(two) > 0 {
		out["required"] = slices.Concat(one, two)
	}
	return out
}

// tell has the member that tells alternatives apart name the part that was taken (OpenAPI
// Specification 3.1, section 4.8.25).
func tell(m map[string]any, part any) {
	d, _ := m["discriminator"].(map[string]any)
	name, _ := d["propertyName"].(string)
	ref, _ := part.(map[string]any)["$ref"].(string)
	if name == "" || ref == "" {
		return
	}
	value := ref[strings.LastIndexByte(ref, '/')+1:]
	mapping, _ := d["mapping"].(map[string]any)
	_, fragment, _ := strings.Cut(ref, "#")
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		if to, ok := mapping[key].(string); ok && (strings.HasSuffix(to, "#"+fragment) || to == value) {
			value = key
			break
		}
	}
	own, _ := m["properties"].(map[string]any)
	all := map[string]any{}
	maps.Copy(all, own)
	all[name] = map[string]any{"const": value}
	m["properties"] = all
}

// object has all members that are not too deep.
func (s *sampler) object(m map[string]any, depth int) (any, bool) {
	properties, _ := m["properties"].(map[string]any)
	required, _ := m["required"].([]any)
	names := slices.Sorted(maps.Keys(properties))
	for _, r := range required {
		if name, ok := r.(string); ok && properties[name] == nil {
			names = append(names, name)
		}
	}
	out := map[string]any{}
	for _, name := range names[:min(len(names), maxMembers)] {
		must := slices.Contains(required, any(name))
		if !must && (depth >= maxOptional || faults[strings.ToLower(name)]) {
			continue
		}
		of, ok := properties[name]
		if !ok {
			of = true
		}
		v, ok := s.value(of, name, depth+1)
		switch {
		case ok:
			out[name] = v
		case must:
			return nil, false
		}
	}
	if further := s.tree.object(m["additionalProperties"]); len(out) == 0 && further != nil && depth < maxOptional {
		if v, ok := s.value(further, "", depth+1); ok {
			out[sampleID] = v
		}
	}
	return out, true
}

// array has one element, or as many as it must.
func (s *sampler) array(m map[string]any, name string, depth int) (any, bool) {
	least := int(bound(m, "minItems", 0))
	of, ok := m["items"]
	if !ok {
		of = true
	}
	first, _ := m["prefixItems"].([]any)
	if list, ok := of.([]any); ok { // before draft 2020-12
		first, of = list, true
	}
	out := []any{}
	for i := range max(least, len(first), 1) {
		element := of
		if i < len(first) {
			element = first[i]
		}
		v, ok := s.value(element, strings.TrimSuffix(name, "s"), depth+1)
		if !ok {
			return out, i >= least
		}
		out = append(out, v)
	}
	if bound(m, "maxItems", 1) < 1 {
		out = []any{}
	}
	return out, true
}
