//go:build amd64 || arm64

package spy

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// Options say what is watched.
type Options struct {
	// PIDs are the processes that are watched, with all that they start; none for every
	// process of the machine.
	PIDs []int
	// Ring is the size in bytes of the buffer between the kernel and this process, a power of
	// two; 0 is 16 MiB.
	Ring int
	// AnyAddress follows TCP connections to other machines, too.
	AnyAddress bool
	// older has the programs read the kernel's memory as they must before Linux 6.2.
	older bool
}

// look is how long a piece may wait unread while few come.
const look = 5 * time.Millisecond

// Collector watches from Open to Close.
type Collector struct {
	objects programObjects
	links   []link.Link
	reader  *ringbuf.Reader
	closing atomic.Bool
}

// Open loads the programs and attaches them.
func Open(o Options) (*Collector, error) {
	if err := missing(); err != nil {
		return nil, err
	}
	c := &Collector{}
	err := c.load(o)
	if err == nil {
		err = c.attach()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *Collector) load(o Options) error {
	_ = rlimit.RemoveMemlock() // kernels before 5.11 count maps by it; what then fails says so itself
	spec, err := loadProgram()
	if err != nil {
		return fmt.Errorf("eBPF collector: read the programs: %w", err)
	}
	if o.Ring > 0 {
		spec.Maps["events"].MaxEntries = uint32(o.Ring)
	}
	for name, value := range map[string]any{
		"calls_of": callsOf(), "self": uint32(os.Getpid()), "older": o.older, "any_address": o.AnyAddress, "only_some": len(o.PIDs) > 0,
	} {
		if err := spec.Variables[name].Set(value); err != nil {
			return fmt.Errorf("eBPF collector: set %s: %w", name, err)
		}
	}
	if err := spec.LoadAndAssign(&c.objects, nil); err != nil {
		return explain(err)
	}
	for _, pid := range WithChildren(o.PIDs) {
		if err := c.objects.Watched.Put(uint32(pid), uint32(1)); err != nil {
			return fmt.Errorf("eBPF collector: say what to watch: %w", err)
		}
	}
	if c.reader, err = ringbuf.NewReader(c.objects.Events); err != nil {
		return fmt.Errorf("eBPF collector: open the buffer: %w", err)
	}
	return nil
}

// attach connects the programs, those that see calls begin last.
func (c *Collector) attach() error {
	for _, p := range []struct {
		point   string
		program *ebpf.Program
	}{{"sched_process_fork", c.objects.OnFork}, {"sys_exit", c.objects.OnExit}, {"sys_enter", c.objects.OnEnter}} {
		l, err := link.AttachRawTracepoint(link.RawTracepointOptions{Name: p.point, Program: p.program})
		if err != nil {
			return fmt.Errorf("eBPF collector: attach to %s: %w", p.point, err)
		}
		c.links = append(c.links, l)
	}
	return nil
}

// explain turns a refusal to load into what can be done about it.
func explain(err error) error {
	var v *ebpf.VerifierError
	switch {
	case errors.Is(err, unix.EPERM) && !errors.As(err, &v):
		return &NeedError{What: "the kernel refuses to load eBPF programs", Hint: "run it as root, or with CAP_BPF and CAP_PERFMON; in a container also without the seccomp profile that refuses bpf(2)", err: err}
	case errors.As(err, &v):
		return fmt.Errorf("eBPF collector: this kernel does not accept the programs: %w", err)
	}
	return fmt.Errorf("eBPF collector: load the programs: %w", err)
}

// callsOf says which of the kernel's calls are watched, as enum WRITE and so on have it.
func callsOf() (calls [512]uint8) {
	for i, nr := range []int{unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_READ, unix.SYS_READV, unix.SYS_RECVFROM, unix.SYS_RECVMSG,
		unix.SYS_SPLICE, unix.SYS_TEE, unix.SYS_SENDFILE, unix.SYS_VMSPLICE} {
		calls[nr] = uint8(i + 1)
	}
	return calls
}

// Read calls take with each piece, and turn now and then, also while nothing comes, until
// Stop. drained says that all that the kernel's side had told of by now, a time of trace.Clock, was taken: on a
// busy machine that is some time before turn is called. Both are called from the goroutine that calls Read.
func (c *Collector) Read(take func(*reassembly.Chunk), turn func(now time.Duration, drained bool)) error {
	var sample ringbuf.Record
	for {
		now := trace.Clock()
		c.reader.SetDeadline(time.Now().Add(look))
		var err error
		for range 4096 { // then what came is handed on, however much waits
			if err = c.reader.ReadInto(&sample); err != nil {
				break
			}
			chunk, bad := read(sample.RawSample)
			if bad != nil {
				return fmt.Errorf("eBPF collector: %w", bad)
			}
			take(chunk)
		}
		turn(now, errors.Is(err, os.ErrDeadlineExceeded))
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) && c.closing.Load():
			return nil
		case err == nil, errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, ringbuf.ErrFlushed):
		default:
			return fmt.Errorf("eBPF collector: the buffer between the kernel and coalmine broke: %w", err)
		}
	}
}

// Judge tells the kernel's side that a stream is not MCP. A stream that is gone
// by then is no error.
func (c *Collector) Judge(k reassembly.Key, v reassembly.Verdict) {
	_ = c.objects.Verdicts.Put(&k, uint32(v)) // it is looked at again, which costs time alone
}

// whyLost are the reasons that the kernel's side counts by.
var whyLost = []string{
	"pieces found no room in the buffer between the kernel and coalmine",
	"writes found no room in the tables of streams",
	"processes found no room in the table of watched processes",
	"calls came while their program was running already",
}

// Lost says what the kernel's side has lost so far, by reason. A reason without losses is
// not there.
func (c *Collector) Lost() map[string]uint64 {
	out := map[string]uint64{}
	for i, why := range whyLost[:len(whyLost)-1] {
		var per []uint64
		_ = c.objects.Losses.Lookup(uint32(i), &per)
		for _, n := range per {
			if n > 0 {
				out[why] += n
			}
		}
	}
	for _, p := range []*ebpf.Program{c.objects.OnEnter, c.objects.OnExit, c.objects.OnFork} {
		if s, err := p.Stats(); err == nil && s.RecursionMisses > 0 {
			out[whyLost[len(whyLost)-1]] += s.RecursionMisses
		}
	}
	return out
}

// Stop has Read return, once it has handed on what the kernel has sent already. It may be
// called from any goroutine.
func (c *Collector) Stop() { c.closing.Store(true) }

// Close detaches the programs. Nothing of them is left in the kernel.
func (c *Collector) Close() {
	for _, l := range slices.Backward(c.links) {
		_ = l.Close()
	}
	if c.reader != nil {
		_ = c.reader.Close()
	}
	_ = c.objects.Close()
}
