package schema

import (
	"encoding/json"
	"sort"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// typeSet is a set of JSON types. A number that need not be whole is tNumber;
// an integer satisfies both.
type typeSet uint8

const (
	tNull typeSet = 1 << iota
	tBoolean
	tInteger
	tNumber
	tString
	tArray
	tObject
	allTypes = tNull | tBoolean | tInteger | tNumber | tString | tArray | tObject
)

// listTypes is the order in which a type is preferred where several are
// allowed: a string beside another type is mostly that type written as text.
var listTypes = []typeSet{tObject, tArray, tInteger, tNumber, tBoolean, tString, tNull}

func typeNamed(name string) typeSet {
	switch name {
	case "null":
		return tNull
	case "boolean":
		return tBoolean
	case "integer":
		return tInteger
	case "number":
		return tNumber | tInteger
	case "string":
		return tString
	case "array":
		return tArray
	case "object":
		return tObject
	}
	return 0
}

func typeOfValue(v any) typeSet {
	switch v := v.(type) {
	case nil:
		return tNull
	case bool:
		return tBoolean
	case json.Number:
		if isWhole(v) {
			return tInteger
		}
		return tNumber
	case string:
		return tString
	case []any:
		return tArray
	case map[string]any:
		return tObject
	}
	return 0
}

// ownTypes are the types that s itself allows, its references aside.
func ownTypes(s *jsonschema.Schema) typeSet {
	types := allTypes
	if s.Bool != nil {
		if !*s.Bool {
			return 0
		}
		return types
	}
	if s.Types != nil {
		types = 0
		for _, name := range s.Types.ToStrings() {
			types |= typeNamed(name)
		}
	}
	if s.Enum != nil {
		var e typeSet
		for _, v := range s.Enum.Values {
			e |= typeOfValue(v)
		}
		types &= e
	}
	if s.Const != nil {
		types &= typeOfValue(*s.Const)
	}
	return types
}

// hinted are the types that the keywords of s speak of.
func hinted(s *jsonschema.Schema) typeSet {
	var t typeSet
	if len(s.Properties) > 0 || len(s.Required) > 0 || s.AdditionalProperties != nil || len(s.PatternProperties) > 0 ||
		s.PropertyNames != nil || s.MinProperties != nil || s.MaxProperties != nil {
		t |= tObject
	}
	if s.Items != nil || s.Items2020 != nil || len(s.PrefixItems) > 0 || s.MinItems != nil || s.MaxItems != nil || s.UniqueItems || s.Contains != nil {
		t |= tArray
	}
	if s.Pattern != nil || s.MinLength != nil || s.MaxLength != nil || s.Format != nil {
		t |= tString
	}
	if s.Minimum != nil || s.Maximum != nil || s.ExclusiveMinimum != nil || s.ExclusiveMaximum != nil || s.MultipleOf != nil {
		t |= tNumber | tInteger
	}
	return t
}

// patterned is one entry of patternProperties.
type patterned struct {
	re     jsonschema.Regexp
	schema *jsonschema.Schema
}

// patternsOf lists patternProperties in one order on every machine.
func patternsOf(s *jsonschema.Schema) []patterned {
	if len(s.PatternProperties) == 0 {
		return nil
	}
	out := make([]patterned, 0, len(s.PatternProperties))
	for re, t := range s.PatternProperties {
		out = append(out, patterned{re, t})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].re.String() < out[j].re.String() })
	return out
}
