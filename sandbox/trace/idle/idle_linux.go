package idle

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/ringbuf"
)

// Programs are in the kernel, with their maps.
type Programs interface {
	// Reset makes detached programs forget what they watched.
	Reset() error
	Close() error
}

// Pool keeps a few programs of each kind: the buffer of each takes memory. The zero Pool is
// empty. It is safe for concurrent use.
type Pool[K comparable, P Programs] struct {
	mu  sync.Mutex
	all []kept[K, P]
}

type kept[K comparable, P Programs] struct {
	kind     K
	programs P
}

// most bounds the programs that are kept.
const most = 2

// Take finds programs of a kind that nobody has, or loads new ones.
func (p *Pool[K, P]) Take(kind K, load func() (P, error)) (P, error) {
	for {
		k, ok := p.pick(kind)
		if !ok {
			return load()
		}
		if k.Reset() == nil {
			return k, nil
		}
		_ = k.Close() // what cannot forget is of no more use
	}
}

func (p *Pool[K, P]) pick(kind K) (programs P, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, k := range p.all {
		if k.kind == kind {
			p.all = append(p.all[:i:i], p.all[i+1:]...)
			return k.programs, true
		}
	}
	return programs, false
}

// Give takes programs back, detached.
func (p *Pool[K, P]) Give(kind K, programs P) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, kept[K, P]{kind, programs})
	if len(p.all) > most {
		_ = p.all[0].programs.Close()
		p.all = p.all[1:]
	}
}

// Clear deletes all that hash tables hold.
func Clear(tables ...*ebpf.Map) error {
	for _, m := range tables {
		key, value := make([]byte, m.KeySize()), make([]byte, m.ValueSize())
		for all := m.Iterate(); all.Next(&key, &value); all = m.Iterate() {
			if err := m.Delete(key); err != nil && !errors.Is(err, ebpf.ErrKeyNotExist) {
				return err
			}
		}
	}
	return nil
}

// Drop drops the events in a ring buffer that nobody read.
func Drop(events *ebpf.Map) error {
	r, err := ringbuf.NewReader(events)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	r.SetDeadline(time.Unix(1, 0))
	var sample ringbuf.Record
	for err == nil {
		err = r.ReadInto(&sample)
	}
	if !errors.Is(err, os.ErrDeadlineExceeded) || r.AvailableBytes() != 0 {
		return fmt.Errorf("the buffer stays full: %w", err)
	}
	return nil
}
