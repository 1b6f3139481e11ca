package answers

import (
	"encoding/json"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// What is kept of the GraphQL schemas of one tree, and read of each file.
const (
	maxTypes       = 3_000
	maxFields      = 12_000
	maxTypeOf      = 16 // lists of lists and what is not null
	maxGraphTokens = 400_000
)

// types collects the types that a client's query can ask for.
type types struct {
	out    sinkhole.GraphQL
	fields int
}

func newTypes() *types {
	return &types{out: sinkhole.GraphQL{Roots: map[string]string{}, Types: map[string]sinkhole.GraphQLType{}}}
}

// done are the types, nil where no query can be answered by them.
func (t *types) done() *sinkhole.GraphQL {
	for operation, name := range map[string]string{"query": "Query", "mutation": "Mutation", "subscription": "Subscription"} {
		if _, ok := t.out.Types[name]; ok && t.out.Roots[operation] == "" {
			t.out.Roots[operation] = name
		}
	}
	if len(t.out.Roots) == 0 {
		return nil
	}
	return &t.out
}

// add keeps a type, with the fields that an earlier part of it had.
func (t *types) add(name string, one sinkhole.GraphQLType) {
	have, ok := t.out.Types[name]
	if name == "" || !ok && len(t.out.Types) >= maxTypes {
		return
	}
	if have.Fields == nil {
		have.Fields = map[string]sinkhole.GraphQLField{}
	}
	for field, of := range one.Fields {
		if t.fields++; t.fields <= maxFields {
			have.Fields[field] = of
		}
	}
	if have.Value == "" {
		have.Value = one.Value
	}
	have.Possible = append(have.Possible, one.Possible...)
	t.out.Types[name] = have
}

// sdl reads a file in the schema definition language (GraphQL specification, section 3). A file of
// queries is none, and is left out.
func (t *types) sdl(text string) {
	doc, err := parser.ParseSchemaWithLimit(&ast.Source{Input: text}, maxGraphTokens)
	if err != nil {
		return
	}
	for _, list := range []ast.SchemaDefinitionList{doc.Schema, doc.SchemaExtension} {
		for _, s := range list {
			for _, o := range s.OperationTypes {
				t.out.Roots[string(o.Operation)] = o.Type
			}
		}
	}
	for _, list := range []ast.DefinitionList{doc.Definitions, doc.Extensions} {
		for _, d := range list {
			if d.Kind == ast.InputObject {
				continue
			}
			one := sinkhole.GraphQLType{Possible: d.Types, Fields: map[string]sinkhole.GraphQLField{}}
			for _, f := range d.Fields {
				one.Fields[f.Name] = fieldOf(f.Type)
			}
			if len(d.EnumValues) > 0 {
				one.Value = d.EnumValues[0].Name
			}
			t.add(d.Name, one)
			for _, above := range d.Interfaces {
				t.add(above, sinkhole.GraphQLType{Possible: []string{d.Name}})
			}
		}
	}
}

func fieldOf(of *ast.Type) sinkhole.GraphQLField {
	var out sinkhole.GraphQLField
	for of != nil && out.List < maxTypeOf {
		if of.Elem == nil {
			out.Type = of.NamedType
			break
		}
		of = of.Elem
		out.List++
	}
	return out
}

// wrappedType is a type as introspection names it (section 4.5).
type wrappedType struct {
	Kind   string       `json:"kind"`
	Name   string       `json:"name"`
	OfType *wrappedType `json:"ofType"`
}

func (w *wrappedType) field() sinkhole.GraphQLField {
	var out sinkhole.GraphQLField
	for range maxTypeOf {
		if w == nil {
			break
		}
		if w.Kind == "LIST" {
			out.List++
		}
		out.Type, w = w.Name, w.OfType
	}
	return out
}

// introspection reads the answer to the introspection query.
func (t *types) introspection(raw []byte) {
	type description struct {
		QueryType, MutationType, SubscriptionType wrappedType
		Types                                     []struct {
			Kind, Name string
			Fields     []struct {
				Name string
				Type wrappedType
			}
			EnumValues, PossibleTypes []struct{ Name string }
		}
	}
	var doc struct {
		Schema description `json:"__schema"`
		Data   struct {
			Schema description `json:"__schema"`
		}
	}
	if json.Unmarshal(raw, &doc) != nil {
		return
	}
	s := doc.Schema
	if len(s.Types) == 0 {
		s = doc.Data.Schema
	}
	for operation, of := range map[string]wrappedType{"query": s.QueryType, "mutation": s.MutationType, "subscription": s.SubscriptionType} {
		if of.Name != "" {
			t.out.Roots[operation] = of.Name
		}
	}
	for _, of := range s.Types {
		if of.Kind == "INPUT_OBJECT" || len(of.Name) > 1 && of.Name[:2] == "__" {
			continue
		}
		one := sinkhole.GraphQLType{Fields: map[string]sinkhole.GraphQLField{}}
		for _, f := range of.Fields {
			one.Fields[f.Name] = f.Type.field()
		}
		if len(of.EnumValues) > 0 {
			one.Value = of.EnumValues[0].Name
		}
		for _, p := range of.PossibleTypes {
			one.Possible = append(one.Possible, p.Name)
		}
		t.add(of.Name, one)
	}
}
