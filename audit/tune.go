package audit

import "runtime/debug"

// memory is what an audit takes, in bytes, before memory is collected more often.
const memory = 250 << 20

// Tune sets the garbage collector of a process that does nothing but audit: it works little
// below the bound on memory, and more near it. What it returns sets it back.
func Tune() func() {
	percent, limit := debug.SetGCPercent(400), debug.SetMemoryLimit(memory)
	return func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}
