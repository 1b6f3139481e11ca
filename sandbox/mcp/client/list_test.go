package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// paged answers with pages made by page, which gets a page's number.
func paged(page func(n int) (entries, next string)) func(*peer, request) {
	return func(p *peer, r request) {
		var params struct{ Cursor string }
		_ = json.Unmarshal(r.Params, &params)
		n := 0
		_, _ = fmt.Sscanf(params.Cursor, "page-%d", &n)
		entries, next := page(n)
		give(fmt.Sprintf(`{"tools":[%s],"nextCursor":%q}`, entries, next))(p, r)
	}
}

func tools(from, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object","properties":{"a":{"$ref":"#"}}}}`, from+i))
	}
	return strings.Join(out, ",")
}

func TestList(t *testing.T) {
	endless := func(size int) func(*peer, request) {
		return paged(func(n int) (string, string) { return tools(n*size, size), fmt.Sprintf("page-%d", n+1) })
	}
	for _, tc := range []struct {
		name    string
		list    func(*peer, request)
		tools   int
		says    string
		is      error
		notices string
	}{
		{"none", give(`{"tools":[]}`), 0, "", nil, ""},
		{"5,000 over pages", paged(func(n int) (string, string) {
			if n == 99 {
				return tools(n*50, 50), ""
			}
			return tools(n*50, 50), fmt.Sprintf("page-%d", n+1)
		}), 5000, "", nil, ""},
		{"5,000 at once", give(`{"tools":[` + tools(0, 5000) + `]}`), 5000, "", nil, ""},
		{"one cursor again and again", paged(func(int) (string, string) { return tools(0, 1), "page-1" }), 2, "a cursor came back after 2 pages", ErrIncomplete, "list-cut"},
		{"a loop of two", paged(func(n int) (string, string) { return tools(n, 1), fmt.Sprintf("page-%d", (n+1)%2) }), 3, "a cursor came back", ErrIncomplete, "list-cut"},
		{"pages without end", endless(1), bounds.Pages, "more than 100 pages", ErrIncomplete, "list-cut"},
		{"entries without end", endless(5000), bounds.Entries, "more than 10000 entries", ErrIncomplete, "list-cut"},
		{"too many at once", give(`{"tools":[` + tools(0, bounds.Entries+1) + `]}`), bounds.Entries, "more than 10000 entries", ErrIncomplete, "list-cut"},
		{"a huge cursor", give(`{"tools":[],"nextCursor":"` + strings.Repeat("c", bounds.Cursor+1) + `"}`), 0, "a cursor of 65537 bytes", ErrIncomplete, "list-cut"},
		{"one bad entry", give(`{"tools":[3,{"name":"good"},{"nameless":1}]}`), 1, "", nil, "bad-result"},
		{"not an object", give(`7`), 0, "", nil, "bad-result"},
		{"error", fail(-32603, "boom"), 0, "boom", nil, ""},
		{"silent", silent, 0, "tools/list: no answer in time", ErrTimeout, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			noLeaks(t)
			opts := patient
			if errors.Is(tc.is, ErrTimeout) {
				opts = short
			}
			p := newPeer(opts, legacy(map[string]func(*peer, request){"tools/list": tc.list}))
			s := connect(t, p)
			err := p.c.List(t.Context(), s)
			if len(s.Tools) != tc.tools {
				t.Errorf("%d tools", len(s.Tools))
			}
			if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || tc.is != nil && !errors.Is(err, tc.is) {
				t.Errorf("got error %v", err)
			}
			if kinds(p.c) != tc.notices {
				t.Errorf("notices: %+v", p.c.Notices())
			}
		})
	}
}

func TestListWhatIsDeclared(t *testing.T) {
	all := map[string]func(*peer, request){
		"resources/list":           give(`{"resources":[{"uri":"a:b","name":"r"}]}`),
		"resources/templates/list": give(`{"resourceTemplates":[{"uriTemplate":"a:{x}","name":"t"}]}`),
		"prompts/list":             give(`{"prompts":[{"name":"p","arguments":[{"name":"a","required":true}]}]}`),
	}
	for _, tc := range []struct {
		capabilities string
		refuse       string
		want, says   string
	}{
		{`{"tools":{},"resources":{},"prompts":{}}`, "", "1 1 1 1", ""},
		{`{}`, "", "1 0 0 0", ""},
		{`null`, "tools/list", "0 0 0 0", ""},
		{`{"tools":{}}`, "tools/list", "0 0 0 0", "Method not found"},
		{`{"resources":{}}`, "resources/templates/list", "1 1 0 0", ""},
		{`{"resources":{},"prompts":{}}`, "resources/list", "1 0 1 1", ""},
	} {
		on := legacy(all)
		on[methodInitialize] = give(`{"protocolVersion":"2025-06-18","capabilities":` + tc.capabilities + `,"serverInfo":{"name":"s","version":"1"}}`)
		if tc.refuse != "" {
			on[tc.refuse] = unknown
		}
		p := newPeer(patient, on)
		s := connect(t, p)
		err := p.c.List(t.Context(), s)
		if got := fmt.Sprint(len(s.Tools), len(s.Resources), len(s.Templates), len(s.Prompts)); got != tc.want {
			t.Errorf("%+v: got %s", tc, got)
		}
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%+v: got %v", tc, err)
		}
	}
}

// A server that goes mute after its list costs one time-out a call, no more.
func TestMuteAfterList(t *testing.T) {
	noLeaks(t)
	mute := false
	p := newPeer(short, nil)
	p.on = legacy(map[string]func(*peer, request){
		"tools/list": func(p *peer, r request) {
			if !mute {
				oneTool(p, r)
			}
			mute = true
		},
		"tools/call": silent,
	})
	s := connect(t, p)
	if err := p.c.List(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := p.c.CallTool(t.Context(), "x", nil); !errors.Is(err, ErrTimeout) {
			t.Errorf("got %v", err)
		}
	}
	again := &wire.Surface{Capabilities: s.Capabilities}
	if err := p.c.List(t.Context(), again); !errors.Is(err, ErrTimeout) || len(again.Tools) != 0 {
		t.Errorf("got %v", err)
	}
}
