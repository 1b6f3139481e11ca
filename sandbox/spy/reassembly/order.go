package reassembly

import (
	"container/heap"
	"time"
)

const (
	// window is how long a chunk waits for those that began before it. A writer may be
	// kept from telling of its call while the reader answers already.
	window = 100 * time.Millisecond
	// maxWaiting bounds the bytes that wait.
	maxWaiting = 64 << 20
)

// order sorts chunks by the time at which their calls began. Those of one time stay as
// they came.
type order struct {
	all  []ordered
	seq  uint64
	held int
}

type ordered struct {
	c   *Chunk
	seq uint64
}

// Len implements heap.Interface.
func (o *order) Len() int { return len(o.all) }

// Less implements heap.Interface.
func (o *order) Less(i, j int) bool {
	a, b := o.all[i], o.all[j]
	if a.c.Time != b.c.Time {
		return a.c.Time < b.c.Time
	}
	return a.seq < b.seq
}

// Swap implements heap.Interface.
func (o *order) Swap(i, j int) { o.all[i], o.all[j] = o.all[j], o.all[i] }

// Push implements heap.Interface.
func (o *order) Push(x any) { o.all = append(o.all, x.(ordered)) }

// Pop implements heap.Interface.
func (o *order) Pop() any {
	last := o.all[len(o.all)-1]
	o.all[len(o.all)-1] = ordered{}
	o.all = o.all[:len(o.all)-1]
	return last
}

func (o *order) add(c *Chunk) {
	o.seq++
	o.held += len(c.Data)
	heap.Push(o, ordered{c, o.seq})
}

// next takes the first chunk if nothing older can come any more, nil otherwise.
func (o *order) next(now time.Duration) *Chunk {
	if len(o.all) == 0 || o.all[0].c.Time+window > now && o.held <= maxWaiting {
		return nil
	}
	c := heap.Pop(o).(ordered).c
	o.held -= len(c.Data)
	return c
}
