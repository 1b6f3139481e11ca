package wiretap

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestSecrets(t *testing.T) {
	scan := Secrets()
	text := func(s string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + s + `"}]}}`)
	}
	// The token is put together here, so that no scanner takes this file for one.
	token := "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0" + "4IkQ5h"
	for _, c := range []struct {
		what string
		want bool
	}{{"hello", false}, {"mail me at dev@example.com", false}, {"the token is " + token, true},
		{strings.Repeat("a ", 3<<20) + token, true}, {strings.Repeat("a ", 9<<20), true}} {
		if kinds := scan(text(c.what)); (len(kinds) > 0) != c.want || slices.ContainsFunc(kinds, func(k string) bool { return strings.Contains(k, token) }) {
			t.Errorf("%s: %q", c.what, kinds)
		}
	}
}

func TestCanaries(t *testing.T) {
	dir := t.TempDir()
	if _, err := Canaries(dir); err == nil {
		t.Error("a directory without a run has decoys")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	log, err := (session.Output{Root: root}).Create(session.Header{Canaries: []canaries.Canary{{ID: "k", Kind: "ssh", Value: "Zq8vLm2xWc5tRn9bHj4s"}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	scan, err := Canaries(dir)
	if err != nil {
		t.Fatal(err)
	}
	if kinds := Scanners(scan)([]byte(`{"x":"Zq8vLm2xWc5tRn9bHj4s"}`)); !slices.Equal(kinds, []string{"a decoy"}) {
		t.Errorf("kinds %q", kinds)
	}
	if kinds := scan([]byte(`{"x":"nothing"}`)); kinds != nil {
		t.Errorf("kinds %q", kinds)
	}
}

// What is wrong with arguments is told by its place, never by its value.
func TestValidatorSaysWhere(t *testing.T) {
	check := Validator()
	const schema = `{"type":"object","properties":{"text":{"type":"string","pattern":"^[a-z]*$"},"of":{"type":"array","items":{"enum":[1,2]}}},"required":["text"],"additionalProperties":false}`
	for arguments, want := range map[string]string{
		`{"text":77}`:            "/text must be a string, got a number",
		`{"of":[]}`:              "/ must have text",
		`{"text":"SECRET"}`:      "/text must match the pattern in the schema",
		`{"text":"a","of":[77]}`: "/of/0 must be one of the values in the schema",
		`{"text":"a","x":77}`:    "/ must have only declared properties",
		`["SECRET"]`:             "/ must be an object, got an array",
	} {
		err := check(json.RawMessage(schema), json.RawMessage(arguments))
		if err == nil || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "SECRET") || strings.Contains(err.Error(), "77") {
			t.Errorf("%s: %v, want %s", arguments, err, want)
		}
	}
}

func TestValidator(t *testing.T) {
	check := Validator()
	for _, c := range []struct {
		schema, arguments string
		want              error
	}{
		{`{"type":"object","required":["a"]}`, `{"a":1}`, nil},
		{`{"type":"object","required":["a"]}`, `{}`, io.EOF},
		{`7`, `{}`, gate.ErrUnusable},
	} {
		for range 2 {
			err := check(json.RawMessage(c.schema), json.RawMessage(c.arguments))
			if (err == nil) != (c.want == nil) || errors.Is(err, gate.ErrUnusable) != errors.Is(c.want, gate.ErrUnusable) {
				t.Errorf("%s of %s: %v", c.arguments, c.schema, err)
			}
		}
	}
}
