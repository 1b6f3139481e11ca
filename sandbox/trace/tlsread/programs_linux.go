//go:build amd64 || arm64

package tlsread

import (
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/features"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"

	"github.com/coalmine-dev/coalmine/sandbox/trace/idle"
)

// programs are in the kernel, with their maps. One Reader has them at a time.
type programs struct {
	programObjects
	ring int
	// multi says that one link holds a program's probes in a file (Linux 6.6). The kernel takes such
	// links away side by side; others one after the other, some 50 ms each.
	multi bool
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
	p := &programs{ring: ring, multi: features.HaveBPFLinkUprobeMulti() == nil}
	for _, each := range spec.Programs {
		if p.multi && each.Type == ebpf.Kprobe {
			each.AttachType = ebpf.AttachTraceUprobeMulti
		}
	}
	if err := spec.LoadAndAssign(&p.programObjects, nil); err != nil {
		return nil, fmt.Errorf("TLS reader: load the programs: it needs Linux 5.17 with BTF and uprobes, CAP_BPF and CAP_PERFMON: %w", err)
	}
	return p, nil
}

// set sets the probes of one program in a file.
func (p *programs) set(ex *link.Executable, program *ebpf.Program, at []uint64, returns bool) (links []link.Link, err error) {
	if p.multi {
		set := ex.UprobeMulti
		if returns {
			set = ex.UretprobeMulti
		}
		l, err := set(nil, program, &link.UprobeMultiOptions{Addresses: at})
		if err != nil {
			return nil, err
		}
		return []link.Link{l}, nil
	}
	set := ex.Uprobe
	if returns {
		set = ex.Uretprobe
	}
	for _, address := range at {
		l, err := set("", program, &link.UprobeOptions{Address: address})
		if err != nil {
			return links, err
		}
		links = append(links, l)
	}
	return links, nil
}

// Reset implements idle.Programs. Whoever takes away a uprobe waits for its last run.
func (p *programs) Reset() error {
	if err := idle.Clear(p.Conns, p.Calls, p.Tasks, p.Files); err != nil {
		return err
	}
	return idle.Drop(p.Events)
}
