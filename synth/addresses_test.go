package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/schema"
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

// A tool that takes an address, and refuses those of the web, gets a file of this machine of the type that it names.
func TestLocalFilesForAddresses(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"Save is only supported for local files", "The source must be a local path.", "remote sources are not supported", "expected a file:// URL"} {
		f := newFake(tool("save_pdf", `{"type":"object","properties":{"url":{"type":"string","description":"Original PDF URL or local file path"}},"required":["url"]}`))
		f.tool = func(_ string, raw json.RawMessage) (client.Result, error) {
			if strings.Contains(string(raw), "http") || !strings.Contains(string(raw), ".pdf") {
				return refusal(said), nil
			}
			return success("saved"), nil
		}
		r := drive(t, f, Config{Calls: 4, Hints: schema.Hints{Files: []string{"/home/sam/notes.txt", "/home/sam/plan.pdf"}}})
		if r.Tools[0].OK == 0 {
			t.Errorf("%s: no call succeeded: %q", said, f.log)
		}
	}
}
