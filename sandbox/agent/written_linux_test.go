package agent

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// process is one of the model's. Its count is what it wrote, and what those wrote that it waited for.
type process struct {
	pid, parent int
	count       int64
	ended       bool
}

// machine is a model of what the kernel counts.
type machine struct {
	all   []*process
	next  int
	truth int64 // what the target wrote
}

func (m *machine) find(pid int) *process {
	i := slices.IndexFunc(m.all, func(p *process) bool { return p.pid == pid })
	return m.all[i]
}

func (m *machine) remove(p *process) {
	m.all = slices.DeleteFunc(m.all, func(o *process) bool { return o == p })
}

func (m *machine) end(p *process) {
	p.ended = true
	for _, o := range m.all {
		if o.parent == p.pid {
			o.parent = 1
		}
	}
}

func (m *machine) wait(p *process) {
	m.find(p.parent).count += p.count
	m.remove(p)
}

func (m *machine) tasks() []task {
	var out []task
	for _, p := range m.all { // parents are made, and listed, before their children
		if p.pid != 1 {
			out = append(out, task{pid: p.pid, ppid: p.parent, start: uint64(p.pid), state: 'S'})
		}
	}
	return out
}

func (m *machine) read(pid int) (int64, bool) {
	i := slices.IndexFunc(m.all, func(p *process) bool { return p.pid == pid })
	if i < 0 {
		return 0, false
	}
	return m.all[i].count, true
}

// TestWhatIsWrittenIsCountedOnce: however processes end and whoever waits for them, the sum is
// never more than what they wrote, and all of it where each was waited for.
func TestWhatIsWrittenIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{all: []*process{{pid: 1, count: 7}, {pid: 2, parent: 1}}, next: 3}
		d := disk{self: 1}
		d.sample(m.tasks(), m.read)
		unwaited := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			p := rapid.SampledFrom(m.all).Draw(t, "process")
			switch what := rapid.SampledFrom([]string{"fork", "write", "end", "wait", "reap", "sample"}).Draw(t, "what"); {
			case p.pid == 1 && what != "sample":
			case what == "fork" && !p.ended:
				m.all = append(m.all, &process{pid: m.next, parent: p.pid})
				m.next++
			case what == "write" && !p.ended:
				p.count += 100
				m.truth += 100
			case what == "end" && !p.ended:
				m.end(p)
			case what == "wait" && p.ended:
				m.wait(p)
			case what == "reap" && !p.ended:
				m.end(p)
				m.remove(p)
				unwaited = true
			case what == "sample":
				d.sample(m.tasks(), m.read)
				if d.written > m.truth || !unwaited && d.written != m.truth {
					t.Fatalf("%d counted, %d written (unwaited %v)", d.written, m.truth, unwaited)
				}
			}
		}
	})
}

// Of children for which nobody waits the last sample counts.
func TestUnwaitedChildrenCount(t *testing.T) {
	m := &machine{all: []*process{{pid: 1}, {pid: 2, parent: 1}}}
	d := disk{self: 1}
	for n := range 5 {
		child := &process{pid: 3 + n, parent: 2, count: 100}
		m.all = append(m.all, child)
		d.sample(m.tasks(), m.read)
		m.remove(child)
		d.sample(m.tasks(), m.read)
	}
	if d.written != 500 {
		t.Errorf("%d counted, 500 written", d.written)
	}
}

// A process that ends between the list and the look at it is neither lost nor counted twice.
func TestAProcessThatEndsMeanwhile(t *testing.T) {
	m := &machine{all: []*process{{pid: 1}, {pid: 2, parent: 1}, {pid: 3, parent: 2, count: 100}}}
	d := disk{self: 1}
	d.sample(m.tasks(), m.read)
	d.sample(m.tasks(), func(pid int) (int64, bool) {
		n, ok := m.read(pid)
		if pid == 2 { // its count is read, then it waits for its child
			m.end(m.find(3))
			m.wait(m.find(3))
		}
		return n, ok
	})
	if d.written != 100 {
		t.Errorf("%d counted meanwhile", d.written)
	}
	d.sample(m.tasks(), m.read)
	if d.written != 100 {
		t.Errorf("%d counted afterwards", d.written)
	}
}
