package probe

import (
	"context"
	"runtime"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// jobs is how many runs may be alive at once: what the user says, or one for each
// processor, as far as there is memory for the servers. In place all servers run in the one
// container, where they would see each other.
func jobs(ctx context.Context, b sandbox.Backend, o *plan.Options) int {
	if b.Name() == "inplace" {
		return 1
	}
	return Slots(ctx, o)
}

// Slots is how many sandboxes the probes of several targets may have at once, all together.
func Slots(ctx context.Context, o *plan.Options) int {
	if o.Sandbox == "inplace" || o.Sandbox == "auto" && mayBeSandbox(ctx) {
		return 1 // as in jobs
	}
	if o.Jobs > 0 {
		return o.Jobs
	}
	return SideBySide(o.Limits.Memory)
}

// SideBySide is how many servers that take that much memory, in bytes, can run at once here:
// one for each processor, as far as the memory that is free now reaches.
func SideBySide(memory int64) int { return sideBySide(runtime.NumCPU(), availableMemory(), memory) }

// sideBySide is SideBySide for a machine; free is 0 where it is not known.
func sideBySide(processors int, free, memory int64) int {
	if free > 0 {
		return max(1, int(min(int64(processors), free/max(memory, 1))))
	}
	return max(1, processors)
}
