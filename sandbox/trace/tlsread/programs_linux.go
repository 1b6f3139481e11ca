//go:build amd64 || arm64

package tlsread

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
)

// programs are in the kernel, with their maps. One Reader has them at a time.
type programs struct {
	programObjects
	ring int
}

// idle are those that no Reader has: the kernel checks them once for many runs. The buffer of
// each takes memory, so they are few.
var idle struct {
	sync.Mutex
	all []*programs
}

const maxIdle = 2

// take finds programs that nobody has, or has the kernel check new ones.
func take(ring int) (*programs, error) {
	for {
		p := pickIdle(ring)
		if p == nil {
			return load(ring)
		}
		if p.reset() == nil {
			return p, nil
		}
		_ = p.Close()
	}
}

func pickIdle(ring int) *programs {
	idle.Lock()
	defer idle.Unlock()
	for i, p := range idle.all {
		if p.ring == ring {
			idle.all = append(idle.all[:i:i], idle.all[i+1:]...)
			return p
		}
	}
	return nil
}

// give takes them back, detached.
func (p *programs) give() {
	idle.Lock()
	defer idle.Unlock()
	idle.all = append(idle.all, p)
	if len(idle.all) > maxIdle {
		_ = idle.all[0].Close()
		idle.all = idle.all[1:]
	}
}

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

// reset makes the programs forget whom they watched.
func (p *programs) reset() error {
	for _, m := range []*ebpf.Map{p.Conns, p.Calls, p.Tasks} {
		key, value := make([]byte, m.KeySize()), make([]byte, m.ValueSize())
		for all := m.Iterate(); all.Next(&key, &value); all = m.Iterate() {
			if err := m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return err
			}
		}
	}
	r, err := ringbuf.NewReader(p.Events)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	r.SetDeadline(time.Unix(1, 0))
	var sample ringbuf.Record
	for err == nil {
		err = r.ReadInto(&sample)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}
