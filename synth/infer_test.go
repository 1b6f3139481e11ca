package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

func TestInferFromRefusals(t *testing.T) {
	const zod4 = `Error: Invalid arguments for edit_file: [{"expected":"string","code":"invalid_type","path":["path"],"message":"Invalid input: expected string, received undefined"},
		{"expected":"array","code":"invalid_type","path":["edits"],"message":"Invalid input: expected array, received undefined"}]`
	const zod3 = `MCP error -32602: [{"code":"invalid_type","expected":"string","received":"undefined","path":["edits",0,"oldText"],"message":"Required"}]`
	for name, c := range map[string]struct {
		declared string
		refusals []string
		want     string
	}{
		"nothing declared": {`{"$schema":"http://json-schema.org/draft-07/schema#"}`, []string{zod4},
			`{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"edits":{"type":"array"},"path":{"type":"string"}},"required":["path","edits"],"type":"object"}`},
		"deeper each time": {`{}`, []string{zod4, zod3},
			`{"properties":{"edits":{"items":{"properties":{"oldText":{"type":"string"}},"required":["oldText"],"type":"object"},"type":"array"},"path":{"type":"string"}},"required":["path","edits"],"type":"object"}`},
		"what is declared stays": {`{"properties":{"path":{"enum":["a"]}}}`, []string{zod4},
			`{"properties":{"edits":{"type":"array"},"path":{"enum":["a"]}},"required":["path","edits"],"type":"object"}`},
		"a wrong value is none that is missing": {`{}`, []string{`[{"code":"invalid_type","expected":"string","path":["a"],"message":"Invalid input: expected string, received number"}]`},
			`{"properties":{"a":{"type":"string"}},"type":"object"}`},
		"one argument's own check": {`{"properties":{"args":{}}}`, []string{`Invalid argument 'args': [{"code":"invalid_type","expected":"object","received":"string","path":[],"message":"Expected object"}]`},
			`{"properties":{"args":{"type":"object"}},"type":"object"}`},
		"no issues": {`{}`, []string{"Error: [oops", "", "[1,2]", `[{"code":"invalid_type","expected":"function","path":["a"],"message":"Required"}]`}, `{}`},
		"too deep":  {`{}`, []string{`[{"code":"invalid_type","expected":"string","message":"Required","path":[` + strings.TrimSuffix(strings.Repeat(`"a",`, 50), ",") + `]}]`}, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			to := &target{what: WhatTool, decl: wire.Tool{InputSchema: json.RawMessage(c.declared)}}
			for _, r := range c.refusals {
				to.infer(r)
			}
			if got := string(to.schema()); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

func TestInferIsBounded(t *testing.T) {
	to := &target{what: WhatTool, decl: wire.Tool{InputSchema: json.RawMessage(`{}`)}}
	for i := range 10_000 {
		name, _ := json.Marshal(strings.Repeat("x", i))
		to.infer(`[{"code":"invalid_type","expected":"string","message":"Required","path":[` + string(name) + `]}]`)
	}
	if got := len(to.inferred["required"].([]any)); got != maxInferred {
		t.Errorf("%d names", got)
	}
}
