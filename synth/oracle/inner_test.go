package oracle

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
)

func TestInners(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, at string
		holds    []string // of each place, in order
	}{
		{`{"body":"{\"a\":{\"cmd\":\"ls\"},\"n\":1}"}`, "/body", []string{`{"body":"{\"a\":{\"cmd\":\"X\\\"Y\"},\"n\":1}"}`, `\"mode\":\"X\\\"Y\",\"n\":1`}},
		{`{"rows":" [\"a\"]"}`, "/rows", []string{`{"rows":"[\"X\\\"Y\"]"}`}},
		{`{"cursor":"eyJwYXRoIjoiYS50eHQiLCJhdCI6M30"}`, "/cursor", []string{base64.RawStdEncoding.EncodeToString([]byte(`{"at":3,"path":"X\"Y"}`)), "eyJ"}},
		{`{"options_json":"x"}`, "/options_json", []string{`\"mode\":\"X`}},
		{`{"config":"{}"}`, "/config", []string{`\"mode\":\"X`}},
		{`{"a":{"free":{},"n":1}}`, "/a/free", []string{`"mode":"X\"Y"`}},
	} {
		got := Inners(json.RawMessage(c.args), []string{"mode"})
		if len(got) != len(c.holds) {
			t.Errorf("%s: %d places", c.args, len(got))
			continue
		}
		for i, p := range got {
			if args, ok := p.Put(`X"Y`); !ok || p.At != c.at || !json.Valid(args) || !strings.Contains(string(args), c.holds[i]) {
				t.Errorf("%s, place %d at %s: %s, want %s", c.args, i, p.At, args, c.holds[i])
			}
		}
	}
	for _, args := range []string{`{}`, `{"a":"text","b":{"c":1},"d":"{no json"}`, `[]`, `3`, `no json`} {
		if got := Inners(json.RawMessage(args), nil); len(got) > 0 {
			t.Errorf("%s: %+v", args, got)
		}
	}
}
