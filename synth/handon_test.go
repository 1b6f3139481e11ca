package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// A text takes the whole of an answer, a list of texts its lines; a short answer and one that was given before are not handed on.
func TestWhatIsHandedOn(t *testing.T) {
	t.Parallel()
	d := &driver{cfg: Config{Surface: &wire.Surface{}}}
	sign, split := &target{what: WhatTool, name: "sign_text"}, &target{what: WhatTool, name: "split_secret"}
	sign.decl.Description, split.decl.Description = "Signs a text and answers with a receipt.", "Splits a secret into shares."
	check := &target{what: WhatTool, name: "check"}
	d.tools = []*target{sign, split, check}
	d.keep(sign, "short")
	if got := d.handedOn(check, json.RawMessage(`{"receipt":"x"}`)); got != nil {
		t.Fatalf("an answer of five letters was handed on: %s", got)
	}
	d.keep(sign, "receipt of the text 0123456789")
	d.keep(split, "shr1-2-1-ABCD-00\n\n  shr1-2-2-EFGH-11\n")
	for _, c := range []struct{ args, want string }{
		{`{"receipt":"x"}`, `{"receipt":"receipt of the text 0123456789"}`},
		{`{"shares":["x"],"n":3}`, `{"n":3,"shares":["shr1-2-1-ABCD-00","shr1-2-2-EFGH-11"]}`},
		{`{"share":"x"}`, `{"share":"shr1-2-1-ABCD-00"}`},
		{`{"shares":[1,2]}`, ``},
		{`{"colour":"x"}`, ``},
	} {
		if got := string(d.handedOn(check, json.RawMessage(c.args))); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
	check.given = append(check.given, json.RawMessage(`{"receipt":"receipt of the text 0123456789"}`))
	if got := d.handedOn(check, json.RawMessage(`{"receipt":"x"}`)); got != nil {
		t.Errorf("handed on twice: %s", got)
	}
}
