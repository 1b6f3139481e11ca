package sinkhole

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// maxGraphQL bounds a query in bytes, maxGraphQLTokens in tokens, maxSelections the members of its
// answer, and maxNesting their depth.
const maxGraphQL, maxGraphQLTokens, maxSelections, maxNesting = 64 << 10, 8_000, 500, 12

// GraphQL are the types of a schema that a client's package holds.
type GraphQL struct {
	// Roots are the types that "query", "mutation" and "subscription" begin with.
	Roots map[string]string `json:"roots,omitempty"`
	// Types are by their names; scalars have neither fields nor a value.
	Types map[string]GraphQLType `json:"types,omitempty"`
}

// GraphQLType is one type of results.
type GraphQLType struct {
	Fields map[string]GraphQLField `json:"fields,omitempty"`
	// Value is one of an enumeration's.
	Value string `json:"value,omitempty"`
	// Possible are the objects that an interface or a union stands for.
	Possible []string `json:"possible,omitempty"`
}

// GraphQLField is what a field holds: Type, in lists of the depth List.
type GraphQLField struct {
	Type string `json:"type"`
	List int    `json:"list,omitempty"`
}

// graphQLRequest is what may be a GraphQL request: the body of a POST, or what a GET says in its URL
// (GraphQL over HTTP, section 6). It is nil where there is none.
func graphQLRequest(r *http.Request, body []byte) []byte {
	switch r.Method {
	case http.MethodPost:
		return body
	case http.MethodGet:
		asked := r.URL.Query()
		if request, err := json.Marshal(map[string]string{"query": asked.Get("query"), "operationName": asked.Get("operationName")}); err == nil {
			return request
		}
	}
	return nil
}

// graphQL answers a GraphQL request (specification, sections 2 and 7.1): every member
// that its query selects is there, of the type that the schema says where there is one. It reports
// false for what is no such request.
func (g *GraphQL) graphQL(body []byte) (string, bool) {
	var request struct {
		Query         string `json:"query"`
		OperationName string `json:"operationName"`
	}
	if len(body) > maxGraphQL || json.Unmarshal(body, &request) != nil || !strings.Contains(request.Query, "{") {
		return "", false
	}
	doc, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: request.Query}, maxGraphQLTokens)
	if err != nil || len(doc.Operations) == 0 {
		return "", false
	}
	operation := doc.Operations[0]
	if named := doc.Operations.ForName(request.OperationName); named != nil {
		operation = named
	}
	if g == nil {
		g = &GraphQL{}
	}
	q := selections{types: g, fragments: doc.Fragments}
	data := map[string]any{}
	q.fill(data, operation.SelectionSet, g.Roots[string(operation.Operation)], 0)
	out, err := json.Marshal(map[string]any{"data": data})
	return string(out), err == nil
}

// selections reads the selection sets of one query.
type selections struct {
	types     *GraphQL
	fragments ast.FragmentDefinitionList
	n         int // members so far
}

// fill adds what a selection set selects of a type, which is "" where it is not known.
func (q *selections) fill(out map[string]any, set ast.SelectionSet, of string, depth int) {
	if depth > maxNesting {
		return
	}
	for _, s := range set {
		if q.n++; q.n > maxSelections {
			return
		}
		switch s := s.(type) {
		case *ast.Field:
			out[s.Alias] = q.value(s, of, depth)
		case *ast.InlineFragment:
			if q.applies(s.TypeCondition, of) {
				q.fill(out, s.SelectionSet, of, depth+1)
			}
		case *ast.FragmentSpread:
			// One that leads back to itself is bounded by the depth.
			if f := q.fragments.ForName(s.Name); f != nil && q.applies(f.TypeCondition, of) {
				q.fill(out, f.SelectionSet, of, depth+1)
			}
		}
	}
}

// applies says that a fragment on one type is for an object of another.
func (q *selections) applies(condition, of string) bool {
	t, known := q.types.Types[condition]
	return condition == "" || condition == of || of == "" || !known || slices.Contains(t.Possible, of)
}

// value is that of a field: of its type, or where that is not known of one that its name promises.
func (q *selections) value(f *ast.Field, parent string, depth int) any {
	if f.Name == "__typename" {
		if parent == "" {
			return "Autumn"
		}
		return parent
	}
	field, known := q.types.Types[parent].Fields[f.Name]
	if !known {
		if len(f.SelectionSet) == 0 {
			return scalar(f.Name)
		}
		one := map[string]any{}
		q.fill(one, f.SelectionSet, "", depth+1)
		if seemsList(f.Name, one) {
			return []any{one}
		}
		return one
	}
	var out any
	if len(f.SelectionSet) > 0 {
		one := map[string]any{}
		q.fill(one, f.SelectionSet, q.objectOf(field.Type, f.SelectionSet), depth+1)
		out = one
	} else {
		out = q.leaf(field.Type, f.Name)
	}
	for range min(field.List, maxNesting) {
		out = []any{out}
	}
	return out
}

// objectOf is the object that stands for a type: of several that for which the query asks first.
func (q *selections) objectOf(name string, set ast.SelectionSet) string {
	possible := q.types.Types[name].Possible
	if len(possible) == 0 {
		return name
	}
	for _, s := range set {
		condition := ""
		switch s := s.(type) {
		case *ast.InlineFragment:
			condition = s.TypeCondition
		case *ast.FragmentSpread:
			if f := q.fragments.ForName(s.Name); f != nil {
				condition = f.TypeCondition
			}
		}
		if slices.Contains(possible, condition) {
			return condition
		}
	}
	return possible[0]
}

// leaf is a value of an enumeration or a scalar type.
func (q *selections) leaf(name, field string) any {
	if v := q.types.Types[name].Value; v != "" {
		return v
	}
	v := scalar(field)
	lower := strings.ToLower(name)
	switch {
	case name == "Int":
		return 12
	case name == "Float":
		return 12.5
	case name == "Boolean":
		is, _ := v.(bool)
		return is
	case name == "ID":
		return "1024"
	case name == "String":
		if s, ok := v.(string); ok {
			return s
		}
		return "Autumn"
	case strings.Contains(lower, "datetime"), strings.Contains(lower, "timestamp"):
		return "2026-01-12T08:00:00Z"
	case strings.HasSuffix(lower, "date"):
		return "2026-01-12"
	case lower == "url", lower == "uri":
		return "https://www.example.com/items/1"
	case strings.HasPrefix(lower, "json"):
		return map[string]any{}
	}
	return v
}

// seemsList says that a field of an unknown type holds a list, by its name and what is asked of it.
func seemsList(name string, one map[string]any) bool {
	_, nodes := one["nodes"]
	if _, edges := one["edges"]; edges || nodes {
		return false
	}
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, "s") && !strings.HasSuffix(lower, "ss") && !strings.HasSuffix(lower, "status")
}

// scalar is a value that fits a member's name.
func scalar(name string) any {
	lower := strings.ToLower(name)
	ends := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(lower, w) })
	}
	switch {
	case ends("endcursor", "startcursor", "cursor"):
		return Cursor
	case strings.HasPrefix(lower, "is"), strings.HasPrefix(lower, "has"), ends("success", "enabled"):
		return ends("success", "enabled")
	case ends("count", "number", "total", "amount", "price", "size", "points", "score"):
		return 12
	case ends("url", "uri", "link"):
		return "https://www.example.com/items/1"
	case ends("at", "date", "time"):
		return "2026-01-12T08:00:00Z"
	case ends("id"):
		return "1024"
	case ends("email"):
		return "alex.morgan@example.com"
	}
	return "Autumn"
}
