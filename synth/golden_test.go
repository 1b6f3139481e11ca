package synth

import (
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

var update = flag.Bool("update", false, "write the golden file anew")

// TestGoldenCalls holds the calls of one seed for good, on any machine.
func TestGoldenCalls(t *testing.T) {
	raw, err := os.ReadFile("schema/testdata/tools/own.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var tools []wire.Tool
	for _, d := range doc.Tools {
		tools = append(tools, tool(d.Name, string(d.InputSchema)))
	}
	f := newFake(tools...)
	driveWith(t, f, Config{Seed: 7}, schema.Literals{Texts: []string{"open sesame"}, Numbers: []string{"42"}, Lengths: []int{30}})
	const file = "testdata/calls.golden"
	got := strings.Join(f.log, "\n") + "\n"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the calls of seed 7 are others than those in %s:\n%s", file, got)
	}
}
