package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// stdio connects a client to a server that reads lines from one pipe and
// writes them to another, as the tap does.
func stdio(t *testing.T, opts Options, serve func(stdin io.ReadCloser, stdout io.WriteCloser)) *Client {
	t.Helper()
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	c := New(func(line []byte) error {
		_, err := inWrite.Write(append(bytes.Clone(line), '\n'))
		return err
	}, opts)
	fed := make(chan struct{})
	go func() {
		defer close(fed)
		r := bufio.NewReader(outRead)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				c.Feed(line)
			}
			if err != nil {
				c.Closed(err)
				return
			}
		}
	}()
	served := make(chan struct{})
	go func() {
		defer close(served)
		serve(inRead, outWrite)
	}()
	t.Cleanup(func() {
		_ = inWrite.Close()
		<-served
		_ = outWrite.Close()
		<-fed
	})
	return c
}

// sdkServer is a real server of the given versions, all if none.
func sdkServer(versions ...string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "real", Version: "1.2.3"}, &mcp.ServerOptions{
		Instructions:              "read me",
		SupportedProtocolVersions: versions,
		PageSize:                  2,
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"value"}}}, nil
		},
	})
	destructive := false
	for _, name := range []string{"a", "b", "c"} {
		mcp.AddTool(s, &mcp.Tool{Name: name, Annotations: &mcp.ToolAnnotations{DestructiveHint: &destructive}},
			func(ctx context.Context, req *mcp.CallToolRequest, in struct {
				Text string `json:"text"`
			}) (*mcp.CallToolResult, any, error) {
				if in.Text == "fail" {
					return nil, nil, errors.New("it failed")
				}
				if in.Text == "ask" {
					_, err := req.Session.Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{},"$ref":"#"}`)})
					return nil, nil, err
				}
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
			})
	}
	s.AddResource(&mcp.Resource{URI: "note://1", Name: "note"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: "note://1", Text: "contents"}}}, nil
	})
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "note://{id}", Name: "notes"}, nil)
	s.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "who", Required: true}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "hi " + r.Params.Arguments["who"]}}}}, nil
	})
	return s
}

func TestAgainstTheSDK(t *testing.T) {
	for _, tc := range []struct {
		name, protocol string
		versions       []string
		opts           Options
	}{
		{"both", "2026-07-28", nil, Options{}},
		{"modern", "2026-07-28", []string{"2026-07-28"}, Options{}},
		{"legacy", "2025-11-25", []string{"2025-11-25", "2025-06-18"}, Options{}},
		{"old", "2024-11-05", []string{"2024-11-05"}, Options{}},
		{"no discover", "2025-11-25", nil, Options{SkipDiscover: true}},
		{"roots", "2026-07-28", nil, Options{Roots: []Root{{URI: "file:///home/u/w"}}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			server := sdkServer(tc.versions...)
			c := stdio(t, tc.opts, func(in io.ReadCloser, out io.WriteCloser) {
				_ = server.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
			})
			s, err := c.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if s.Protocol != tc.protocol || s.Server != (wire.Implementation{Name: "real", Version: "1.2.3"}) || s.Instructions != "read me" {
				t.Errorf("surface: %+v", s)
			}
			if err := c.List(t.Context(), s); err != nil {
				t.Fatal(err)
			}
			if len(s.Tools) != 3 || len(s.Resources) != 1 || len(s.Templates) != 1 || len(s.Prompts) != 1 {
				t.Errorf("lists: %+v", s)
			}
			if a := s.Tools[2].Annotations; a == nil || a.Destructive == nil || *a.Destructive || a.OpenWorld != nil {
				t.Errorf("annotations: %+v", a)
			}
			exercise(t, c)
			if n := c.Counters().Notices; n[UnknownID]+n[DuplicateID]+n[BadLine]+n[BadResult]+n[ChangedID]+n[LateAnswer] != 0 {
				t.Errorf("notices: %+v", c.Notices())
			}
		})
	}
}

// exercise calls everything that sdkServer has.
func exercise(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	call := func(text string) func() (Result, error) {
		return func() (Result, error) { return c.CallTool(ctx, "a", json.RawMessage(`{"text":"`+text+`"}`)) }
	}
	for _, tc := range []struct {
		name    string
		do      func() (Result, error)
		says    string
		isError bool
		code    int64
	}{
		{"tool", call("hello"), `"text":"hello"`, false, 0},
		{"failing tool", call("fail"), "it failed", true, 0},
		{"asking tool", call("ask"), "", true, 0},
		{"invalid arguments", func() (Result, error) { return c.CallTool(ctx, "a", json.RawMessage(`{"text":1}`)) }, "text", true, 0},
		{"no such tool", func() (Result, error) { return c.CallTool(ctx, "none", nil) }, "", false, -32602},
		{"resource", func() (Result, error) { return c.ReadResource(ctx, "note://1") }, "contents", false, 0},
		{"prompt", func() (Result, error) { return c.GetPrompt(ctx, "p", map[string]string{"who": "you"}) }, "hi you", false, 0},
		{"completion", func() (Result, error) { return c.Complete(ctx, Completion{Prompt: "p"}, "who", "v") }, "value", false, 0},
	} {
		r, err := tc.do()
		switch {
		case err != nil:
			t.Errorf("%s: %v", tc.name, err)
		case tc.code != 0:
			if r.Err == nil || r.Err.Code != tc.code {
				t.Errorf("%s: %+v", tc.name, r)
			}
		case r.Err != nil || r.IsError != tc.isError || !strings.Contains(string(r.Raw), tc.says):
			t.Errorf("%s: %s %+v", tc.name, r.Raw, r.Err)
		}
	}
}

// TestDecliningAgainstTheSDK has a tool ask a user in each era's way: what is asked
// for is declined, and the tool goes on.
func TestDecliningAgainstTheSDK(t *testing.T) {
	for _, version := range []string{"2026-07-28", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			noLeaks(t)
			server := sdkServer(version)
			form := &mcp.ElicitParams{Message: "who?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{},"$ref":"#"}`)}
			server.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				said := func(r *mcp.ElicitResult, more string) (*mcp.CallToolResult, error) {
					return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "the user said " + r.Action + more}}}, nil
				}
				if version < firstModern {
					r, err := req.Session.Elicit(ctx, form)
					if err != nil {
						return nil, err
					}
					return said(r, "")
				}
				if r, ok := req.Params.InputResponses["form"].(*mcp.ElicitResult); ok {
					return said(r, " to "+req.Params.RequestState)
				}
				return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"form": form}, RequestState: "me"}, nil
			})
			c := stdio(t, Options{Declines: true}, func(in io.ReadCloser, out io.WriteCloser) {
				_ = server.Run(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
			})
			if _, err := c.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			r, err := c.CallTool(t.Context(), "ask", nil)
			if err != nil || r.IsError || r.InputRequired || !strings.Contains(string(r.Raw), "the user said decline") || version == "2026-07-28" != strings.Contains(string(r.Raw), " to me") {
				t.Errorf("%s %+v %v", r.Raw, r.Err, err)
			}
		})
	}
}

// A server that asks again and again gets an end, and one that asks for what cannot be
// declined no answer.
func TestDecliningHasAnEnd(t *testing.T) {
	for asked, calls := range map[string]int{
		`{"a":{"method":"elicitation/create","params":{"message":"m"}}}`:                1 + maxAsked,
		`{"a":{"method":"sampling/createMessage","params":{}}}`:                         1,
		`{"a":{"method":"elicitation/create","params":{}},"b":{"method":"roots/list"}}`: 1,
		`{}`:  1,
		`[1]`: 1,
	} {
		n := 0
		opts := patient
		opts.Declines = true
		answer := give(`{"resultType":"input_required","requestState":{"odd":[1]},"inputRequests":` + asked + `}`)
		p := newPeer(opts, legacy(map[string]func(*peer, request){"tools/call": func(p *peer, r request) { n++; answer(p, r) }}))
		connect(t, p)
		r, err := p.c.CallTool(t.Context(), "x", nil)
		if err != nil || !r.InputRequired || n != calls {
			t.Errorf("%s: called %d times, want %d: %+v %v", asked, n, calls, r, err)
		}
	}
}

// A result that asks for what the client offers gets it, a model's answer only so often.
func TestAskedForModelAndRoots(t *testing.T) {
	opts := patient
	opts.Model, opts.Roots = "Fine.", []Root{{URI: "file:///w"}}
	var given []json.RawMessage
	answer := give(`{"resultType":"input_required","inputRequests":{"m":{"method":"sampling/createMessage","params":{}},"r":{"method":"roots/list"}}}`)
	p := newPeer(opts, legacy(map[string]func(*peer, request){"tools/call": func(p *peer, r request) {
		members, _ := object(r.Params)
		given = append(given, members["inputResponses"])
		answer(p, r)
	}}))
	connect(t, p)
	for range maxSampled {
		if _, err := p.c.CallTool(t.Context(), "x", nil); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, g := range given {
		if strings.Contains(string(g), `"text":"Fine."`) && strings.Contains(string(g), `"uri":"file:///w"`) {
			n++
		}
	}
	if n != maxSampled {
		t.Errorf("answered %d times", n)
	}
}
