package coverage

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// takesIn are the kinds of code that takes in what an earlier start may have kept.
var takesIn = []sinks.Kind{sinks.Read, sinks.Decode, sinks.Deserialize, sinks.Evaluate, sinks.SQL}

// LeavesReading reports whether code never ran that can do harm, is on a way from a handler or the
// start, and takes in what is kept: it may run once the server finds what it left.
func (r *Report) LeavesReading() bool {
	return slices.ContainsFunc(r.Unrun, func(u Unrun) bool {
		return u.Weighs && u.Way != "" && u.Owner != Unknown && slices.ContainsFunc(u.Kinds, func(k sinks.Kind) bool { return slices.Contains(takesIn, k) })
	})
}
