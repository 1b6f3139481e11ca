package coverage

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// kindSet is a set of the kinds of sinks.
type kindSet uint16

var allKinds = []sinks.Kind{
	sinks.Read, sinks.Write, sinks.Delete, sinks.Network, sinks.Process, sinks.Evaluate, sinks.Decode, sinks.Environment, sinks.SQL, sinks.Deserialize, sinks.Home,
}

func (s *kindSet) add(k sinks.Kind) {
	if i := slices.Index(allKinds, k); i >= 0 {
		*s |= 1 << i
	}
}

func (s kindSet) has(k sinks.Kind) bool { return s&(1<<slices.Index(allKinds, k)) != 0 }

func (s kindSet) list() []sinks.Kind {
	out := []sinks.Kind{}
	for _, k := range allKinds {
		if s.has(k) {
			out = append(out, k)
		}
	}
	return out
}

// weighs reports whether code that does these things can do harm: it starts programs, runs
// data, sends what it reads or decodes, or works on files in the user's home.
func (s kindSet) weighs() bool {
	switch {
	case s.has(sinks.Process), s.has(sinks.Evaluate):
		return true
	case s.has(sinks.Home) && (s.has(sinks.Read) || s.has(sinks.Write) || s.has(sinks.Delete)):
		return true
	}
	return s.has(sinks.Network) && (s.has(sinks.Read) || s.has(sinks.Decode) || s.has(sinks.Home))
}

// weighs reports whether what never ran of a function, with what it alone calls, can do harm.
// A handler has a client's arguments to send: of a function that it leads to and that never
// ran at all, the network suffices. A branch of one that ran is often for an error.
func (x *comparison) weighs(i int, s kindSet) bool {
	return s.weighs() || s.has(sinks.Network) && !x.entered[i] && x.way[i] != "" && x.way[i] != wayStart
}
