package custom

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/analyze/policy/yamldoc"
)

// entry reads an entry of a collection as the ledger's schema has it. Members may be left
// out: they are absent then.
func (r *reader) entry(c Collection, n *yaml.Node, what string) any {
	v := reflect.New(typeOf(c).goType)
	r.object(n, typeOf(c), v.Elem(), what)
	return v.Interface()
}

func (r *reader) object(n *yaml.Node, t *objectType, to reflect.Value, what string) {
	if n.Kind != yaml.MappingNode {
		r.Fault(n, "%s must be a mapping of the members of %s", what, t.name)
		return
	}
	var names []string
	for _, f := range t.fields {
		names = append(names, f.name)
	}
	r.Members(n, what, names, func(key, v *yaml.Node) {
		i := t.field(key.Value)
		r.member(v, &t.fields[i], to.Field(i), what+", "+key.Value)
	})
}

// member reads a member into a field of a struct.
func (r *reader) member(n *yaml.Node, f *field, to reflect.Value, what string) {
	if !f.list {
		r.value(n, f, to, what)
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.Fault(n, "%s must be a list", what)
		return
	}
	for _, e := range n.Content {
		one := reflect.New(to.Type().Elem()).Elem()
		r.value(e, f, one, what)
		to.Set(reflect.Append(to, one))
	}
}

func (r *reader) value(n *yaml.Node, f *field, to reflect.Value, what string) {
	if f.of != nil {
		to.Set(reflect.New(to.Type().Elem()))
		r.object(n, f.of, to.Elem(), what)
		return
	}
	kind := to.Kind()
	switch {
	case kind == reflect.Map:
		if n.Kind != yaml.MappingNode {
			r.Fault(n, "%s must be a mapping", what)
			return
		}
		to.Set(reflect.ValueOf(r.anything(n)))
		return
	case n.Kind != yaml.ScalarNode:
		r.Fault(n, "%s must be one value", what)
		return
	case kind == reflect.Pointer:
		to.Set(reflect.New(to.Type().Elem()))
		to, kind = to.Elem(), reflect.Bool
	}
	switch kind {
	case reflect.Bool:
		if n.ShortTag() != "!!bool" {
			r.Fault(n, "%s must be true or false", what)
			return
		}
		to.SetBool(strings.EqualFold(n.Value, "true"))
	case reflect.Int:
		i, err := strconv.ParseInt(n.Value, 10, 32)
		if err != nil || n.ShortTag() != "!!int" {
			r.Fault(n, "%s must be a whole number", what)
			return
		}
		to.SetInt(i)
	default:
		r.word(n, f, to, what)
	}
}

// word reads a text, which may have to be one of a few.
func (r *reader) word(n *yaml.Node, f *field, to reflect.Value, what string) {
	if n.Value == "" {
		return // absent
	}
	s := r.Text(n, what)
	if words := enums[f.enum]; s != "" && words != nil && !slices.Contains(words, s) {
		r.Fault(n, "%s: %q is not one of %s", what, yamldoc.Bounded(s), strings.Join(words, ", "))
	}
	to.SetString(s)
}

// anything is a plain node as the arguments of a call have it: every number is a double.
func (r *reader) anything(n *yaml.Node) any {
	switch n.Kind {
	case yaml.MappingNode:
		out := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			out[n.Content[i].Value] = r.anything(n.Content[i+1])
		}
		return out
	case yaml.SequenceNode:
		out := []any{}
		for _, c := range n.Content {
			out = append(out, r.anything(c))
		}
		return out
	}
	switch n.ShortTag() {
	case "!!null":
		return nil
	case "!!bool":
		return strings.EqualFold(n.Value, "true")
	case "!!int", "!!float":
		if f, err := strconv.ParseFloat(n.Value, 64); err == nil {
			return f
		}
	}
	return n.Value
}
