package coverage

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// kindSet is a set of the kinds of sinks.
type kindSet uint16

var allKinds = []sinks.Kind{
	sinks.Read, sinks.Write, sinks.Delete, sinks.Network, sinks.Process, sinks.Evaluate, sinks.Decode, sinks.Environment, sinks.SQL, sinks.Deserialize, sinks.Home,
}

// handled says that programs that run are worked on, which by itself does no harm: they
// are signalled, waited for or read from.
const handled kindSet = 1 << 15

func (s *kindSet) add(sink sinks.Sink) {
	if sink.Kind == sinks.Process && handles(sink.Name) {
		*s |= handled
	} else if i := slices.Index(allKinds, sink.Kind); i >= 0 {
		*s |= 1 << i
	}
}

// signals are the functions that signal programs, and start none.
var signals = []string{"process.kill", "os.kill", "os.killpg", "psutil.Process.kill", "psutil.Process.terminate"}

// handles reports whether a function that is of programs starts none: it signals one, or is a
// method of what a start returned.
func handles(name string) bool {
	for _, module := range []string{"child_process.", "subprocess."} {
		if rest, ok := strings.CutPrefix(name, module); ok && strings.Contains(rest, ".") {
			return true
		}
	}
	return slices.Contains(signals, name)
}

func (s kindSet) has(k sinks.Kind) bool { return s&(1<<slices.Index(allKinds, k)) != 0 }

func (s kindSet) list() []sinks.Kind {
	out := []sinks.Kind{}
	for _, k := range allKinds {
		if s.has(k) || k == sinks.Process && s&handled != 0 {
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
