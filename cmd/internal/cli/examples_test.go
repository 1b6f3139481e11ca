package cli

import (
	"io"
	"strings"
	"testing"
)

// Each example names a command and flags that there are.
func TestExamples(t *testing.T) {
	seen := 0
	for name, lines := range examples {
		for _, line := range lines {
			root := (&env{in: strings.NewReader(""), out: io.Discard, err: io.Discard}).root()
			args := strings.Fields(strings.TrimPrefix(line, "coalmine "))
			cmd, rest, err := root.Find(args)
			if err != nil || cmd.Name() != name {
				t.Errorf("%s: %v %v", line, cmd.Name(), err)
				continue
			}
			seen++
			if err := cmd.ParseFlags(rest); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d examples", seen)
	}
}
