package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// A place that takes a command line gets those of programs that read, with an option by which they write.
func TestReaderInputs(t *testing.T) {
	for args, want := range map[string]int{
		`{"command":"x"}`: oracle.Readers(), `{"line":"git log -3"}`: oracle.Readers(), `{"path":"git"}`: 0, `{"text":"cats and dogs"}`: 0,
	} {
		base := json.RawMessage(args)
		got := readerInputs(base, oracle.Places(base), func(n int) string { return "token" })
		if len(got) != want {
			t.Errorf("%s: %d inputs", args, len(got))
		}
		for _, in := range got {
			if !strings.Contains(string(in.args), "token") || in.in[0].Token != "token" {
				t.Errorf("%s", in.args)
			}
		}
	}
}
