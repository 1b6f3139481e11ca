package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// An object of free names gets the names that a refusal misses in it, and no other does.
func TestRefusalsNameKeys(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"files":{"type":"object","additionalProperties":{"type":"string"}},"scores":{"type":"object","additionalProperties":{"type":"number"}},
		"fixed":{"type":"object","additionalProperties":false},"name":{"type":"string"}}}`
	for _, c := range []struct{ args, text, want string }{
		{`{"files":{}}`, "The files must contain an index.vue file as the entry point", `{"files":{"index.vue":"Quarterly report"}}`},
		{`{"files":{"a":"b"}}`, "files: missing 'title' and more", `{"files":{"a":"b","title":"Quarterly report"}}`},
		{`{"scores":{}}`, `scores must include the field "mean"`, `{"scores":{"mean":1}}`},
		{`{"fixed":{}}`, "fixed has no 'title'", ""},
		{`{"name":"x"}`, "name must contain a main.go file", ""},
		{`{"files":{}}`, "The tree must contain an index.vue file", ""},
		{`{"files":{"main.go":"x"}}`, "the files lack a main.go file", ""},
		{`[`, "files: missing 'x'", ""},
	} {
		d := newDriver(t.Context(), Config{Surface: &wire.Surface{}, Now: newFake().clock})
		got := (&learner{d: d}).keyed(&target{what: WhatTool, decl: tool("t", schema)}, json.RawMessage(c.args), c.text)
		if string(got) != c.want {
			t.Errorf("%s for %s: %s, want %s", c.text, c.args, got, c.want)
		}
	}
}

// A refusal that is written as JSON is read as its text.
func TestRefusalsInJSON(t *testing.T) {
	t.Parallel()
	f := newFake(tool("link", `{"type":"object","properties":{"files":{"type":"object","additionalProperties":{"type":"string"}}},"required":["files"]}`))
	f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
		if !strings.Contains(string(raw), "App.svelte") {
			return refusal(`{"error":"files lack\nApp.svelte\nand that is the entry point"}`), nil
		}
		return success("ok"), nil
	}
	if r := drive(t, f, Config{Calls: 3}); r.Tools[0].OK == 0 {
		t.Errorf("no call succeeded: %q", f.log)
	}
}
