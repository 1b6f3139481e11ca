package client

import (
	"strings"
	"testing"
)

// A tool that is to be called as a task is, others are not, and the task's own
// result is the call's.
func TestCallAsTask(t *testing.T) {
	tools := give(`{"tools":[{"name":"slow","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}},
		{"name":"either","inputSchema":{"type":"object"},"execution":{"taskSupport":"optional"}},{"name":"odd","inputSchema":{},"execution":7}]}`)
	created := give(`{"task":{"taskId":"t-1","status":"working","ttl":60000}}`)
	done := give(`{"content":[{"type":"text","text":"report"}]}`)
	p := newPeer(patient, legacy(map[string]func(*peer, request){"tools/list": tools, "tools/call": created, "tasks/result": done}))
	s, err := p.c.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := p.c.List(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	r, err := p.c.CallTool(t.Context(), "slow", nil)
	if err != nil || !strings.Contains(string(r.Raw), "report") {
		t.Errorf("%s, %v", r.Raw, err)
	}
	for _, name := range []string{"either", "odd", "unheard-of"} {
		if r, err := p.c.CallTool(t.Context(), name, nil); err != nil || !strings.Contains(string(r.Raw), "t-1") {
			t.Errorf("%s: %s, %v", name, r.Raw, err)
		}
	}
	asked := p.requests("tasks/result")
	if len(asked) != 1 || !strings.Contains(string(asked[0].Params), `"taskId":"t-1"`) {
		t.Errorf("results asked for: %v", asked)
	}
	for i, r := range p.requests("tools/call") {
		if got := strings.Contains(string(r.Params), `"task":{"ttl":60000}`); got != (i == 0) {
			t.Errorf("call %d: %s", i, r.Params)
		}
	}
}

// What a server answers instead of a task is the call's result.
func TestTaskThatIsNone(t *testing.T) {
	tools := give(`{"tools":[{"name":"slow","inputSchema":{"type":"object"},"execution":{"taskSupport":"required"}}]}`)
	for _, answer := range []func(*peer, request){give(`{"content":[]}`), give(`{"task":7}`), give(`{"task":{"taskId":8}}`), give(`[]`), unknown} {
		p := newPeer(patient, legacy(map[string]func(*peer, request){"tools/list": tools, "tools/call": answer}))
		s, err := p.c.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := p.c.List(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if _, err := p.c.CallTool(t.Context(), "slow", nil); err != nil {
			t.Error(err)
		}
		if got := p.requests("tasks/result"); len(got) > 0 {
			t.Errorf("a result was asked for: %s", got[0].Params)
		}
	}
}
