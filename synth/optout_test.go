package synth

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// What can be turned off is turned off, the others are called with texts of their own, and it is turned on again.
func TestOptOuts(t *testing.T) {
	t.Parallel()
	const sets = `{"type":"object","properties":{"reports":{"type":"string","enum":["on","off"]}},"required":["reports"]}`
	const texts = `{"type":"object","properties":{"text":{"type":"string","examples":["a few words"]}},"required":["text"]}`
	for _, c := range []struct {
		says  string
		calls bool
	}{{"Turns reports on or off.", true}, {"Chooses a colour.", false}} {
		f := newFake(tool("set_reports", sets), tool("simplify_text", texts))
		f.surface.Tools[0].Description = c.says
		if !c.calls {
			f.surface.Tools[0].Name = "set_lamp"
		}
		state, told := "", 0
		f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
			var args struct{ Reports string }
			_ = json.Unmarshal(raw, &args)
			if args.Reports != "" {
				state = args.Reports
			}
			return success("done"), nil
		}
		drive(t, f, Config{Calls: 3, OnCall: func(call Call) {
			for _, in := range call.Oracles {
				if in.Oracle != session.OracleOptOut {
					continue
				}
				told++
				if state != "off" || in.Context != "reports: off, by set_reports" {
					t.Errorf("%s with reports %s: %s", call.Args, state, in.Context)
				}
			}
		}})
		if (told > 0) != c.calls {
			t.Errorf("%s: %d calls", c.says, told)
		}
	}
}

// A short text is written with a line break and another field, a long one is not.
func TestLineBreaks(t *testing.T) {
	t.Parallel()
	const queues = `{"type":"object","properties":{"subject":{"type":"string","examples":["Minutes of Tuesday"]},"count":{"type":"integer"}},"required":["subject"]}`
	f := newFake(tool("queue_mail", queues))
	f.surface.Tools[0].Description = "Puts a mail into the outbox."
	broken := 0
	drive(t, f, Config{Calls: 3, OnCall: func(call Call) {
		for _, in := range call.Oracles {
			if in.Oracle == session.OracleLine {
				broken++
				if in.At != "/subject" || !strings.Contains(string(call.Args), `\n`+in.Token+`: 1\n`) {
					t.Errorf("%s at %s", call.Args, in.At)
				}
			}
		}
	}})
	if broken != 1 {
		t.Errorf("%d calls with a line break", broken)
	}
}
