package synth

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Where every call waits for what is not there, the rest of the drive is left out, except attack inputs.
func TestInVain(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"key":{"type":"string"}},"required":["key"]}`
	for _, c := range []struct {
		name  string
		takes time.Duration
		works bool
		want  bool
	}{{"all fail slowly", 4 * time.Second, false, true}, {"all fail at once", time.Millisecond, false, false}, {"all work slowly", 4 * time.Second, true, false}} {
		var tools []wire.Tool
		for i := range 30 {
			tools = append(tools, tool(fmt.Sprintf("get_%d", i), schema))
		}
		f := newFake(tools...)
		f.takes = c.takes
		f.tool = func(string, json.RawMessage) (client.Result, error) {
			if c.works {
				return success("ok"), nil
			}
			return success("Error 111: connection refused"), nil
		}
		attacks := 0
		r, err := Drive(t.Context(), Config{Session: f, Surface: f.surface, Calls: 3, Now: f.clock, World: small, OracleTime: 25 * time.Second, Budget: 5 * time.Minute, OnCall: func(call Call) {
			if call.Class == ClassOracle {
				attacks++
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		vain := slices.ContainsFunc(r.Shortfalls, func(g session.Gap) bool { return strings.Contains(g.Text, errVain.Error()) })
		if vain != c.want || attacks == 0 && !c.works {
			t.Errorf("%s: in vain %t after %s, %d attack inputs", c.name, vain, r.Elapsed, attacks)
		}
		if c.want && r.Elapsed > 2*time.Minute {
			t.Errorf("%s: it took %s", c.name, r.Elapsed)
		}
	}
}
