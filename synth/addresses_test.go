package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
)

// A tool that takes addresses of some hosts alone gets one that another tool of the server took.
func TestAddressesOfOtherTools(t *testing.T) {
	t.Parallel()
	const taken = "https://docs.example.org/guide.html"
	one := tool("read_page", `{"type":"object","properties":{"url":{"type":"string","format":"uri","examples":["`+taken+`"]}},"required":["url"]}`)
	two := tool("read_table", `{"type":"object","properties":{"url":{"type":"string","format":"uri"}},"required":["url"]}`)
	f := newFake(one, two)
	f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
		if !strings.Contains(string(raw), "docs.example.org") {
			return refusal("URL must be from the list of supported domains"), nil
		}
		return success("a page"), nil
	}
	r := drive(t, f, Config{Calls: 4})
	for _, tool := range r.Tools {
		if tool.OK == 0 {
			t.Errorf("%s: no call succeeded: %q", tool.Name, f.log)
		}
	}
}
