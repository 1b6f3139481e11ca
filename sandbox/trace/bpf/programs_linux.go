//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/trace/idle"
)

// checked is what programs were checked for by the kernel. It takes a tenth of a second, so
// that programs of a Tracer that was closed serve the next one of the same kind.
type checked struct {
	set   string
	ring  int
	older bool
	// chosen has them watch the processes that Tracer.Watch names.
	chosen bool
}

// programs are in the kernel, with their maps. One Tracer has them at a time.
type programs struct {
	programObjects
	// State is all that a watch leaves behind, except the calls under way that found no slot.
	State *ebpf.Map `ebpf:".bss"`

	kind checked
}

// unused are those that no Tracer has.
var unused idle.Pool[checked, *programs]

// take finds programs of a kind that nobody has, or has the kernel check new ones.
func take(kind checked, abis *[2]*abi) (*programs, error) {
	return unused.Take(kind, func() (*programs, error) { return load(kind, abis) })
}

// give takes them back, detached.
func (p *programs) give() { unused.Give(p.kind, p) }

// load makes the maps and has the kernel check the programs.
func load(kind checked, abis *[2]*abi) (*programs, error) {
	_ = rlimit.RemoveMemlock() // kernels before 5.11 count maps by it; what then fails says so itself
	spec, err := loadProgram()
	if err != nil {
		return nil, fmt.Errorf("eBPF tracer: read the programs: %w", err)
	}
	if kind.ring > 0 {
		spec.Maps["events"].MaxEntries = uint32(kind.ring)
	}
	for name, value := range map[string]any{
		"defs": [2][nCalls]def{abis[0].defs, abis[1].defs}, "wanted": wanted(abis), "socketcalls": socketcalls(),
		"older": kind.older, "by_choice": kind.chosen, "beat_nr": uint32(unix.SYS_PRCTL),
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return nil, fmt.Errorf("eBPF tracer: set %s: %w", name, err)
		}
	}
	p := &programs{kind: kind}
	if err := spec.LoadAndAssign(p, nil); err != nil {
		return nil, explain(err)
	}
	return p, nil
}

// explain turns a refusal to load into what can be done about it.
func explain(err error) error {
	var v *ebpf.VerifierError
	switch {
	case errors.Is(err, unix.EPERM) && !errors.As(err, &v):
		return fmt.Errorf("eBPF tracer: the kernel refuses to load programs: it needs CAP_BPF and CAP_PERFMON: %w", err)
	case errors.As(err, &v):
		return fmt.Errorf("eBPF tracer: this kernel does not accept the programs: %w", err)
	}
	return fmt.Errorf("eBPF tracer: load the programs: %w", err)
}

// membarrierGlobal is MEMBARRIER_CMD_GLOBAL of linux/membarrier.h: it returns when each
// processor has left what it did in the kernel with programs such as these (an RCU grace period).
const membarrierGlobal = 1

// Reset implements idle.Programs. The last runs of the programs may only just end.
func (p *programs) Reset() error {
	if _, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, membarrierGlobal, 0, 0); errno != 0 {
		return errno
	}
	if err := p.State.Put(uint32(0), make([]byte, p.State.ValueSize())); err != nil {
		return err
	}
	if err := idle.Clear(p.Inflight, p.Chosen); err != nil {
		return err
	}
	return idle.Drop(p.Events)
}

func (p *programs) all() []*ebpf.Program {
	return []*ebpf.Program{p.OnFork, p.OnExec, p.OnEnd, p.OnSignal, p.OnExit, p.OnEnter}
}

// Close implements idle.Programs.
func (p *programs) Close() error { return errors.Join(p.programObjects.Close(), p.State.Close()) }
