//go:build amd64 || arm64

package tlsread

import (
	"fmt"

	"github.com/cilium/ebpf/rlimit"

	"github.com/coalmine-dev/coalmine/sandbox/trace/idle"
)

// programs are in the kernel, with their maps. One Reader has them at a time.
type programs struct {
	programObjects
	ring int
}

// unused are those that no Reader has, by the size of their buffer.
var unused idle.Pool[int, *programs]

// take finds programs that nobody has, or has the kernel check new ones.
func take(ring int) (*programs, error) {
	return unused.Take(ring, func() (*programs, error) { return load(ring) })
}

// give takes them back, detached.
func (p *programs) give() { unused.Give(p.ring, p) }

// load makes the maps and has the kernel check the programs.
func load(ring int) (*programs, error) {
	_ = rlimit.RemoveMemlock() // kernels before 5.11 count maps by it; what then fails says so itself
	spec, err := loadProgram()
	if err != nil {
		return nil, fmt.Errorf("TLS reader: read the programs: %w", err)
	}
	if ring > 0 {
		spec.Maps["events"].MaxEntries = uint32(ring)
	}
	p := &programs{ring: ring}
	if err := spec.LoadAndAssign(&p.programObjects, nil); err != nil {
		return nil, fmt.Errorf("TLS reader: load the programs: it needs Linux 5.17 with BTF and uprobes, CAP_BPF and CAP_PERFMON: %w", err)
	}
	return p, nil
}

// Reset implements idle.Programs. Whoever takes away a uprobe waits for its last run.
func (p *programs) Reset() error {
	if err := idle.Clear(p.Conns, p.Calls, p.Tasks); err != nil {
		return err
	}
	return idle.Drop(p.Events)
}
