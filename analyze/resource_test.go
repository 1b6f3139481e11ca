package analyze

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The address of a resource is JSON among the arguments, whatever the server calls it.
func TestAnAddressIsJSON(t *testing.T) {
	w := newWireReader(&profile.Profile{FrameCall: map[uint64]int{7: 1}}, &liner{plain: func(uint64, []byte) string { return "" }})
	const uri = "file:///a\u007fb\U000E0001"
	raw, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": map[string]any{"uri": uri}})
	if err != nil {
		t.Fatal(err)
	}
	w.frame(&session.Frame{Seq: 7, Dir: session.C2S, Message: raw})
	var got string
	if err := json.Unmarshal(w.args[1], &got); err != nil || got != uri {
		t.Errorf("%s: %q %v", w.args[1], got, err)
	}
}
