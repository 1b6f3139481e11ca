package config

import (
	"slices"
	"testing"
)

// VS Code's sandbox counts where it is switched on.
func TestSandbox(t *testing.T) {
	servers, errs := Parse(".vscode/mcp.json", []byte(`{"servers":{
		"on":{"command":"x","sandboxEnabled":true,"sandbox":{"filesystem":{"allowWrite":["${workspaceFolder}"]},"network":{"allowedDomains":["api.example.org",7]}}},
		"bare":{"command":"x","sandboxEnabled":true},
		"none":{"command":"x","sandboxEnabled":true,"sandbox":{"network":{"allowedDomains":[]}}},
		"off":{"command":"x","sandbox":{"network":{"allowedDomains":[]}}},
		"odd":{"command":"x","sandboxEnabled":true,"sandbox":[1]}}}`))
	if len(errs) > 0 || len(servers) != 5 {
		t.Fatalf("%v %v", servers, errs)
	}
	if s := servers[0].Sandbox; s == nil || !slices.Equal(s.AllowWrite, []string{"${workspaceFolder}"}) || !slices.Equal(s.AllowedDomains, []string{"api.example.org"}) {
		t.Errorf("%+v", s)
	}
	for i, given := range map[int]bool{1: false, 2: true, 4: false} {
		if s := servers[i].Sandbox; s == nil || (s.AllowedDomains != nil) != given {
			t.Errorf("%s: %+v", servers[i].Name, s)
		}
	}
	if servers[3].Sandbox != nil {
		t.Error("a sandbox that is off is one")
	}
}
