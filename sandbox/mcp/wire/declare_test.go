package wire

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseTools(t *testing.T) {
	yes, no := true, false
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	const full = `{"name":"n","title":"t","description":"d\u00e9","inputSchema":{"type":"object"},"outputSchema":true,"annotations":{"title":"a","readOnlyHint":true,"destructiveHint":false,"idempotentHint":null},"x":1}`
	tests := []struct {
		name, in, cursor, err string
		want                  []Tool
	}{
		{"none", `{"tools":[]}`, "", "", nil},
		{"all members", `{"tools":[` + full + `],"nextCursor":"c"}`, "c", "", []Tool{{Name: "n", Title: "t", Description: "dé", InputSchema: raw(`{"type":"object"}`), OutputSchema: raw("true"),
			Annotations: &Annotations{Title: "a", ReadOnly: &yes, Destructive: &no}, Raw: raw(full)}}},
		{"nulls are absent", `{"tools":[{"name":"n","title":null,"outputSchema":null,"annotations":null}],"nextCursor":null}`, "", "",
			[]Tool{{Name: "n", Raw: raw(`{"name":"n","title":null,"outputSchema":null,"annotations":null}`)}}},
		{"empty annotations are there", `{"tools":[{"name":"n","annotations":{}}]}`, "", "", []Tool{{Name: "n", Annotations: &Annotations{}, Raw: raw(`{"name":"n","annotations":{}}`)}}},
		{"hint of the wrong type", `{"tools":[{"name":"n","annotations":{"readOnlyHint":"true"}}]}`, "", `tools[0]: "readOnlyHint" is not a boolean`,
			[]Tool{{Name: "n", Annotations: &Annotations{}, Raw: raw(`{"name":"n","annotations":{"readOnlyHint":"true"}}`)}}},
		{"bad entries between good ones", `{"tools":[1,{"name":"a"},{"title":"no name"},{"name":7},{"name":"b"}],"nextCursor":"c"}`, "c", "tools[3]: left out",
			[]Tool{{Name: "a", Raw: raw(`{"name":"a"}`)}, {Name: "b", Raw: raw(`{"name":"b"}`)}}},
		{"bad member", `{"tools":[{"name":"a","description":[]}]}`, "", `tools[0]: "description" is not a string`, []Tool{{Name: "a", Raw: raw(`{"name":"a","description":[]}`)}}},
		{"bad annotations", `{"tools":[{"name":"a","annotations":[]}]}`, "", `"annotations" is not an object`, []Tool{{Name: "a", Raw: raw(`{"name":"a","annotations":[]}`)}}},
		{"twice the same name", `{"tools":[{"name":"a"},{"name":"a"}]}`, "", "", []Tool{{Name: "a", Raw: raw(`{"name":"a"}`)}, {Name: "a", Raw: raw(`{"name":"a"}`)}}},
		{"bad cursor", `{"tools":[],"nextCursor":3}`, "", `"nextCursor" is not a string`, nil},
		{"no list", `{}`, "", `"tools" is not an array`, nil},
		{"no object", `[]`, "", "result of tools is not an object", nil},
		{"no JSON", `{`, "", "result of tools: no string for a key at byte 1", nil},
		{"nothing", ``, "", "no value", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, cursor, err := ParseTools(raw(tt.in))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if e := errString(err); !strings.Contains(e, tt.err) || tt.err == "" && e != "" || cursor != tt.cursor {
				t.Errorf("cursor %q, error %q, want %q", cursor, e, tt.err)
			}
		})
	}
}

func TestParseOthers(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	r, cursor, err := ParseResources(raw(`{"resources":[{"uri":"file:///a","name":"a","title":"t","description":"d","mimeType":"text/plain"},{"name":"no uri"}],"nextCursor":"x"}`))
	if len(r) != 1 || cursor != "x" || err == nil || r[0].URI != "file:///a" || r[0].Name != "a" || r[0].Title != "t" || r[0].Description != "d" || r[0].MIMEType != "text/plain" {
		t.Errorf("resources %+v %q %v", r, cursor, err)
	}
	tp, _, err := ParseTemplates(raw(`{"resourceTemplates":[{"uriTemplate":"x://{id}","name":"a","title":"t","description":"d","mimeType":"m"}, null]}`))
	if len(tp) != 1 || err == nil || tp[0].URITemplate != "x://{id}" || tp[0].Name != "a" || tp[0].Title != "t" || tp[0].Description != "d" || tp[0].MIMEType != "m" {
		t.Errorf("templates %+v %v", tp, err)
	}
	p, _, err := ParsePrompts(raw(`{"prompts":[{"name":"a","title":"t","description":"d","arguments":[{"name":"x","description":"y","required":true},{},{"name":"z","required":1}]},{"name":"b","arguments":null},{"name":"c","arguments":{}},{}]}`))
	want := []PromptArgument{{"x", "y", true}, {"z", "", false}}
	if len(p) != 3 || p[0].Title != "t" || p[0].Description != "d" || p[1].Arguments != nil || err == nil {
		t.Fatalf("prompts %+v %v", p, err)
	}
	if diff := cmp.Diff(want, p[0].Arguments); diff != "" {
		t.Error(diff)
	}
	for _, part := range []string{"prompts[0].arguments[1]: left out", `prompts[0].arguments[2]: "required" is not a boolean`, `prompts[2]: "arguments" is not an array`, "prompts[3]: left out"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q does not say %q", err, part)
		}
	}
}

func TestManyTools(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `%s{"name":"t%d","inputSchema":{"type":"object"}}`, strings.Repeat(",", min(i, 1)), i)
	}
	tools, _, err := ParseTools(json.RawMessage(`{"tools":[` + b.String() + `]}`))
	if err != nil || len(tools) != 5000 || tools[4999].Name != "t4999" {
		t.Errorf("%d tools, %v", len(tools), err)
	}
}

func FuzzDeclarations(f *testing.F) {
	f.Add([]byte(`{"tools":[{"name":"n","annotations":{"readOnlyHint":true}}],"nextCursor":"c"}`))
	f.Add([]byte(`{"prompts":[{"name":"a","arguments":[{"name":"x","required":true}]}]}`))
	f.Add([]byte(`{"resources":[{"uri":"a"}],"resourceTemplates":[{"uriTemplate":"b"}]}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		tools, _, err := ParseTools(in)
		for _, tool := range tools {
			if !json.Valid(tool.Raw) || tool.InputSchema != nil && !json.Valid(tool.InputSchema) {
				t.Fatalf("tool %q of %q", tool.Raw, in)
			}
		}
		if err != nil && len(err.Error()) > 64<<10 {
			t.Fatalf("an error of %d bytes", len(err.Error()))
		}
		resources, _, _ := ParseResources(in)
		templates, _, _ := ParseTemplates(in)
		prompts, _, _ := ParsePrompts(in)
		if !json.Valid(in) && len(tools)+len(resources)+len(templates)+len(prompts) > 0 {
			t.Fatalf("declarations out of %q", in)
		}
	})
}
