package answers

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

func inTree(pairs ...string) fstest.MapFS {
	out := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return out
}

const petstore = `openapi: 3.1.0
paths:
  /pets/{petId}:
    get:
      responses:
        "200":
          content:
            application/json:
              schema: {$ref: "#/components/schemas/Pet"}
        default: {description: a fault}
    delete: {responses: {"204": {description: gone}}}
  /pets:
    post:
      responses:
        "404": {description: none}
        "201": {$ref: "parts/answers.yaml#/made"}
components:
  schemas:
    Animal:
      type: object
      required: [id]
      properties: {id: {type: integer, format: int64}, error: {type: string}}
    Pet:
      allOf:
        - $ref: "#/components/schemas/Animal"
        - type: object
          properties:
            kind: {type: string, enum: [cat, dog]}
            born: {type: string, format: date}
            parent: {$ref: "#/components/schemas/Pet"}
            tags: {type: array, items: {type: string}}
`

func TestDescribe(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		files fstest.MapFS
		want  []sinkhole.Fit
	}{
		{"OpenAPI 3 in several files", inTree("openapi.yaml", strings.Replace(petstore, "            parent: {$ref: \"#/components/schemas/Pet\"}\n", "", 1),
			"parts/answers.yaml", `made: {content: {application/json: {schema: {$ref: "../openapi.yaml#/components/schemas/Animal"}}}}`), []sinkhole.Fit{
			{Path: "/pets", Method: "POST", Status: 201, Body: `{"id":1024}`},
			{Path: "/pets/{petId}", Method: "GET", Status: 200, Body: `{"born":"2026-01-12","id":1024,"kind":"cat","tags":["The second quarter looks steady."]}`},
			{Path: "/pets/{petId}", Method: "DELETE", Status: 204},
		}},
		{"Swagger 2", inTree("docs/api.json", `{"swagger":"2.0","paths":{"/users":{"get":{"responses":{"200":{"schema":{"type":"array","items":{"$ref":"#/definitions/U"}}}}}}},`+
			`"definitions":{"U":{"properties":{"email":{"type":"string"},"age":{"type":"integer","maximum":9}}}}}`), []sinkhole.Fit{
			{Path: "/users", Method: "GET", Status: 200, Body: `[{"age":9,"email":"alex.morgan@example.com"}]`},
		}},
		{"what is no description", inTree("package.json", `{"name":"x"}`, "a.yaml", "openapi: [", "node_modules/a/openapi.json", `{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"204":{}}}}}}`), nil},
		{"a reference that leads out of the tree or to the network", inTree("openapi.json", `{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":`+
			`{"schema":{"$ref":"../../etc/schema.json"}}}}}},"put":{"responses":{"200":{"content":{"application/json":{"schema":{"$ref":"https://api.example/s.json"}}}}}}}}}`), nil},
	} {
		got, types := Describe(c.files)
		if !reflect.DeepEqual(got, c.want) || types != nil {
			t.Errorf("%s: %+v %v\nwant %+v", c.what, got, types, c.want)
		}
	}
}

// A schema that holds itself ends, and so do one that must, one that refers to itself alone, and aliases
// that multiply.
func TestDescribeHostile(t *testing.T) {
	t.Parallel()
	fits, _ := Describe(inTree("openapi.yaml", petstore))
	if len(fits) != 2 || !json.Valid([]byte(fits[0].Body)) || !strings.Contains(fits[0].Body, `"parent":{`) {
		t.Errorf("a schema that holds itself: %+v", fits)
	}
	operation := func(schema string) string {
		return fmt.Sprintf(`{"openapi":"3.0.0","paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":%s}}}}}}},"x":{"endless":{"type":"object","required":["a"],`+
			`"properties":{"a":{"$ref":"#/x/endless"}}},"loop":{"$ref":"#/x/loop"},"all":{"allOf":[{"$ref":"#/x/all"}]},"wide":{"type":"object","properties":{"a":{"$ref":"#/x/wide"},"b":{"$ref":"#/x/wide"},"c":{"$ref":"#/x/wide"}}}}}`, schema)
	}
	for _, ref := range []string{"endless", "loop", "all", "absent"} {
		if got, _ := Describe(inTree("openapi.json", operation(`{"$ref":"#/x/`+ref+`"}`))); got != nil {
			t.Errorf("%s: %+v", ref, got)
		}
	}
	if got, _ := Describe(inTree("openapi.json", operation(`{"$ref":"#/x/wide"}`))); len(got) != 1 || len(got[0].Body) > maxSample {
		t.Errorf("a schema that holds itself three times: %d answers", len(got))
	}
	var bomb strings.Builder
	bomb.WriteString("openapi: 3.0.0\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := range 20 {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]\n", i+1, i+1, i, i, i, i, i, i, i)
	}
	if got, _ := Describe(inTree("openapi.yaml", bomb.String())); got != nil {
		t.Errorf("aliases: %+v", got)
	}
}

func TestSample(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"type":"object","properties":{"temperature":{"type":"number"},"next_cursor":{"type":["string","null"]},"error":{"type":"string"}},"required":["temperature"]}`:                      `{"next_cursor":"cGFnZT0y","temperature":12}`,
		`{"type":"object","properties":{"items":{"type":"array","minItems":2,"items":{"$ref":"#/$defs/i"}}},"$defs":{"i":{"type":"object","properties":{"url":{"type":"string"}}}}}`:          `{"items":[{"url":"https://www.example.com/items/1"},{"url":"https://www.example.com/items/1"}]}`,
		`{"type":"object","properties":{"code":{"type":"string","minLength":8,"maxLength":8},"n":{"type":"integer","minimum":20,"multipleOf":7},"x":{"type":"number","exclusiveMaximum":3}}}`: `{"code":"The seco","n":21,"x":2}`,
		`{"oneOf":[{"type":"null"},{"type":"object","properties":{"ok":{"type":"boolean"}}}]}`:                                                                                                `{"ok":true}`,
		`{"type":"object","properties":{"next":{"type":"string"},"id":{"type":"string"}}}`:                                                                                                    `{"id":"10240512","next":"Autumn"}`,
	} {
		got, ok := Sample(json.RawMessage(raw))
		if !ok || got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	for _, raw := range []string{``, `{`, `false`} {
		if got, ok := Sample(json.RawMessage(raw)); ok {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

// Whatever a schema asks for, its sample has.
func FuzzSample(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"type":"string","pattern":"^[A-Z]{3}$"},"b":{"anyOf":[{"const":3},{"type":"null"}]}},"required":["a"]}`)
	f.Add(`{"type":"array","items":[{"type":"integer"}],"minItems":3,"uniqueItems":true}`)
	f.Fuzz(func(t *testing.T, raw string) {
		got, ok := Sample(json.RawMessage(raw))
		if !ok {
			return
		}
		g, err := schema.New(json.RawMessage(raw), schema.Options{})
		if err != nil || g.Check(json.RawMessage(got)) != nil {
			t.Fatalf("%s does not fit", got)
		}
	})
}

func FuzzDescribe(f *testing.F) {
	f.Add(petstore, "type Query { a(b: I): [B!]! } enum B { C }")
	f.Add(`{"swagger":"2.0","paths":{"/a":{"get":{"responses":{"200":{"schema":{"type":"array","items":{}}}}}}}}`, `{"__schema":{"queryType":{"name":"Q"},"types":[{"name":"Q","fields":[{"name":"a","type":{"kind":"LIST","ofType":{"name":"Int"}}}]}]}}`)
	f.Fuzz(func(t *testing.T, document, types string) {
		fits, _ := Describe(inTree("openapi.yaml", document, "openapi.json", document, "a.graphql", types, "schema.json", types))
		for _, fit := range fits {
			if fit.Body != "" && !json.Valid([]byte(fit.Body)) {
				t.Fatalf("no JSON: %q", fit.Body)
			}
		}
	})
}

func TestTypes(t *testing.T) {
	t.Parallel()
	want := &sinkhole.GraphQL{Roots: map[string]string{"query": "Query"}, Types: map[string]sinkhole.GraphQLType{
		"Query": {Fields: map[string]sinkhole.GraphQLField{"found": {Type: "Found", List: 1}, "state": {Type: "State"}}},
		"Found": {Fields: map[string]sinkhole.GraphQLField{}, Possible: []string{"Issue"}},
		"State": {Fields: map[string]sinkhole.GraphQLField{}, Value: "OPEN"},
		"Issue": {Fields: map[string]sinkhole.GraphQLField{"number": {Type: "Int"}}},
	}}
	for name, source := range map[string]string{
		"a.graphql": "input I { a: Int }\ntype Query { found(a: I): [Found!]! }\nunion Found = Issue\nenum State { OPEN CLOSED }\ntype Issue { number: Int! }\nextend type Query { state: State }",
		"s.json": `{"data":{"__schema":{"queryType":{"name":"Query"},"types":[{"kind":"OBJECT","name":"Query","fields":[{"name":"found","type":{"kind":"NON_NULL","ofType":{"kind":"LIST","ofType":{"kind":"UNION","name":"Found"}}}},` +
			`{"name":"state","type":{"kind":"ENUM","name":"State"}}]},{"kind":"UNION","name":"Found","possibleTypes":[{"name":"Issue"}]},{"kind":"ENUM","name":"State","enumValues":[{"name":"OPEN"}]},` +
			`{"kind":"OBJECT","name":"Issue","fields":[{"name":"number","type":{"kind":"SCALAR","name":"Int"}}]},{"kind":"OBJECT","name":"__Type"},{"kind":"INPUT_OBJECT","name":"I"}]}}}`,
	} {
		if _, got := Describe(inTree(name, source)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
	if _, got := Describe(inTree("q.graphql", "query { a }")); got != nil {
		t.Errorf("a file of queries: %+v", got)
	}
}
