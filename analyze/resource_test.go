package analyze

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The address of a resource is JSON among the arguments, whatever the server calls it.
func TestAnAddressIsJSON(t *testing.T) {
	b := profile.NewBuilder(profile.Context{})
	b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1})
	b.Crossed(&session.Mark{Kind: session.MarkFrame, Seq: 7}, false)
	w := newWireReader(b, &timelineBuilder{plain: func(uint64, []byte) string { return "" }})
	const uri = "file:///a\u007fb\U000E0001"
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": map[string]any{"uri": uri}})
	if err != nil {
		t.Fatal(err)
	}
	msgs, err := wire.Parse(raw)
	w.frame(&session.Frame{Seq: 7, Dir: session.C2S, Message: raw}, msgs, err)
	var got string
	if err := json.Unmarshal(w.args.of[1], &got); err != nil || got != uri {
		t.Errorf("%s: %q %v", w.args.of[1], got, err)
	}
}
