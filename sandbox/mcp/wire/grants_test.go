package wire

import (
	"encoding/json"
	"testing"
)

func TestNeedsAndGrants(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		method, params, caps string
		granted              bool
	}{
		{"roots/list", `{}`, `{"roots":{}}`, true},
		{"roots/list", ``, `{"sampling":{}}`, false},
		{"sampling/createMessage", `{"messages":[]}`, `{"sampling":{}}`, true},
		{"sampling/createMessage", `{"messages":[],"tools":[]}`, `{"sampling":{}}`, false},
		{"sampling/createMessage", `{"messages":[],"tools":[]}`, `{"sampling":{"tools":{}}}`, true},
		{"sampling/createMessage", `{"messages":[],"tools":[]}`, `{"sampling":{"tools":null}}`, false},
		{"elicitation/create", `{"message":"?"}`, `{"elicitation":{}}`, true},
		{"elicitation/create", `{"mode":"form"}`, `{"elicitation":{"url":{}}}`, true},
		{"elicitation/create", `{"mode":"url"}`, `{"elicitation":{}}`, false},
		{"elicitation/create", `{"mode":"url"}`, `{"elicitation":{"form":{},"url":{}}}`, true},
		{"elicitation/create", `[]`, `[]`, false},
	} {
		if need := Need(c.method, json.RawMessage(c.params)); need == "" || grants(json.RawMessage(c.caps))[need] != c.granted {
			t.Errorf("%s %s needs %q: %v", c.method, c.params, need, grants(json.RawMessage(c.caps)))
		}
	}
	if need := Need("ping", nil); need != "" {
		t.Errorf("ping needs %s", need)
	}
}
