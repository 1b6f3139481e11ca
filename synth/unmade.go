package synth

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/oracle"
)

// unshared says which tools did not get their share of inputs, and whether undeclared
// tools were left out. Where the server ended, that is the reason, and is said.
func (d *driver) unshared(queues []*oracleQueue, hidden *hiddenCalls) {
	if d.report.Crashed != nil {
		return
	}
	var tools, wide []string
	inputs, arguments := 0, 0
	for _, q := range queues {
		if q.t.leftAlone() {
			continue
		}
		if len(q.share) > 0 {
			tools = append(tools, q.t.name)
			inputs += len(q.share)
		}
		if q.t.beyond > 0 {
			wide = append(wide, q.t.name)
			arguments += q.t.beyond
		}
	}
	if inputs > 0 {
		d.shortfall(session.GapAttacksIncomplete, only(tools), "coalmine had no time to try each kind of attack input on each argument: %d are left of %d of %d tools (%s)",
			inputs, len(tools), len(queues), listed(tools))
	}
	if arguments > 0 {
		d.shortfall(session.GapAttacksIncomplete, only(wide), "coalmine gave no attack inputs to %d of the arguments of %d of %d tools (%s): they have too many",
			arguments, len(wide), len(queues), listed(wide))
	}
	if n := len(hidden.names); n > 0 {
		d.shortfall(session.GapAttacksIncomplete, "", "coalmine had no time to call %d of %d undeclared tools", n, n+hidden.called)
	}
}

// hung says which tools were left alone before they had all of their attack inputs. A tool that
// never worked leaves a gap by that alone.
func (d *driver) hung() {
	for _, t := range d.tools {
		if t.unmade > 0 && t.worked {
			d.shortfall(session.GapAttacksIncomplete, t.name, "the tool stopped answering in time: %d calls got no answer, and coalmine did not give it %d more attack inputs",
				t.cover.Timeouts, t.unmade)
		}
	}
}

// placesOf are the arguments that get attack inputs, as many as the budget allows, and how many are beyond.
func (d *driver) placesOf(base json.RawMessage) (places []oracle.Place, beyond int) {
	all := oracle.Places(base)
	n := min(len(all), d.mostPlaces())
	return all[:n], len(all) - n
}

// mostPlaces is how many arguments of a tool get attack inputs.
func (d *driver) mostPlaces() int { return max(leastPlaces, placesPerCall*d.cfg.Calls) }

// only is the one of some names, "" for several.
func only(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return ""
}

// listed names the first few of a list.
func listed(names []string) string {
	const most = 3
	if extra := len(names) - most; extra > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", extra)
	}
	return strings.Join(names, ", ")
}
