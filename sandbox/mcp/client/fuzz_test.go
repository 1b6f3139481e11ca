package client

import (
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// FuzzServer answers everything with the fuzzer's bytes, as results and as lines.
func FuzzServer(f *testing.F) {
	for _, seed := range []string{
		`{}`, `null`, `[]`, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"resources":{},"prompts":{}},"serverInfo":{}}`,
		`{"supportedVersions":["2026-07-28"],"capabilities":{"tools":null},"_meta":{"io.modelcontextprotocol/serverInfo":3}}`,
		`{"tools":[{"name":"x","inputSchema":{"$ref":"#"}}],"nextCursor":"a","isError":true,"resultType":"input_required"}`,
		"banner\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", `{"jsonrpc":"2.0","id":"1","method":"ping"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opts := Options{HandshakeTimeout: time.Second, CallTimeout: 20 * time.Millisecond, DiscoverTimeout: 20 * time.Millisecond}
		p := newPeer(opts, map[string]func(*peer, request){"": func(p *peer, r request) {
			p.c.Feed(data)
			p.feed(`{"jsonrpc":"2.0","id":%s,"result":%s}`, r.ID, data)
			p.feed(`{"jsonrpc":"2.0","id":%s,"error":%s}`, r.ID, data)
			p.feed(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{}}}`, r.ID)
		}})
		s, err := p.c.Connect(t.Context())
		if err != nil {
			s = &wire.Surface{}
		}
		_ = p.c.List(t.Context(), s)
		_, _ = p.c.CallTool(t.Context(), string(data), data)
		p.c.Closed(nil)
		if n := len(p.c.Notices()); n > 20*maxNotices {
			t.Errorf("%d notices", n)
		}
	})
}
