package client

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestArgumentsAsHeaders calls a tool whose schema wants arguments as headers: the
// SDK's server refuses a call whose headers do not say what its body says.
func TestArgumentsAsHeaders(t *testing.T) {
	schema := json.RawMessage(`{"type":"object","properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"n":{"type":"integer","x-mcp-header":"N"},
		"dry":{"type":"boolean","x-mcp-header":"Dry-Run"},
		"in":{"type":"object","properties":{"deep":{"type":"string","x-mcp-header":"Deep"}}},
		"plain":{"type":"string"}}}`)
	of := func(*http.Request) *mcp.Server {
		s := mcp.NewServer(&mcp.Implementation{Name: "fixture", Version: "1"}, nil)
		s.AddTool(&mcp.Tool{Name: "route", InputSchema: schema}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "routed"}}}, nil
		})
		return s
	}
	var mu sync.Mutex
	var got map[string]string
	sdk := mcp.NewStreamableHTTPHandler(of, &mcp.StreamableHTTPOptions{Stateless: true})
	c := webClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		got = map[string]string{}
		for k := range r.Header {
			if len(k) > len(headerParam) && k[:len(headerParam)] == headerParam {
				got[k[len(headerParam):]] = r.Header.Get(k)
			}
		}
		mu.Unlock()
		sdk.ServeHTTP(w, r)
	}), false, Options{CallTimeout: 10 * time.Second})
	s, err := c.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := c.List(t.Context(), s); err != nil || len(s.Tools) != 1 {
		t.Fatal(s, err)
	}
	for _, call := range []struct {
		args string
		want map[string]string
	}{
		{`{"region":"eu","n":7,"dry":true,"in":{"deep":"x"},"plain":"p"}`, map[string]string{"Region": "eu", "N": "7", "Dry-Run": "true", "Deep": "x"}},
		{`{"region":"grün","n":-1}`, map[string]string{"Region": "=?base64?Z3LDvG4=?=", "N": "-1"}},
		{`{"region":" a"}`, map[string]string{"Region": "=?base64?IGE=?="}},
		{`{"region":"=?base64?YQ==?="}`, map[string]string{"Region": "=?base64?PT9iYXNlNjQ/WVE9PT89?="}},
		{`{"region":"a\r\nX-Evil: 1"}`, map[string]string{"Region": "=?base64?YQ0KWC1FdmlsOiAx?="}},
		{`{"plain":"p"}`, map[string]string{}},
	} {
		r, err := c.CallTool(t.Context(), "route", json.RawMessage(call.args))
		mu.Lock()
		diff := cmp.Diff(call.want, got)
		mu.Unlock()
		if err != nil || r.IsError || diff != "" {
			t.Errorf("%s: %s, %v\n%s", call.args, r.Raw, err, diff)
		}
	}
}

func TestHeadersOfHostileSchemas(t *testing.T) {
	deep := `{"type":"string","x-mcp-header":"Deep"}`
	for range 40 {
		deep = `{"properties":{"a":` + deep + `}}`
	}
	for schema, want := range map[string]int{
		`{"properties":{"a":{"x-mcp-header":"Ok"}}}`:       1,
		`{"properties":{"a":{"x-mcp-header":"a\r\nb"}}}`:   0,
		`{"properties":{"a":{"x-mcp-header":""}}}`:         0,
		`{"properties":{"a":{"x-mcp-header":7}}}`:          0,
		`{"properties":[{"x-mcp-header":"Ok"}]}`:           0,
		`{"properties":{"a":{"x-mcp-header":"Doppelt:"}}}`: 0,
		deep: 0,
		`"`:  0,
	} {
		if got := boundOf(json.RawMessage(schema), nil, nil); len(got) != want {
			t.Errorf("%.80s: %v", schema, got)
		}
	}
}
