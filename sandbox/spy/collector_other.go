//go:build !linux || !(amd64 || arm64)

package spy

import (
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// errNone says that there is no eBPF here.
var errNone = &NeedError{What: "watching a machine needs Linux on amd64 or arm64", Hint: "put coalmine tap before the server's command instead"}

// Options say what is watched.
type Options struct {
	PIDs       []int
	Ring       int
	AnyAddress bool
}

// Collector cannot be had here.
type Collector struct{}

// Open fails.
func Open(Options) (*Collector, error) { return nil, errNone }

// Read fails.
func (*Collector) Read(func(*reassembly.Chunk), func(time.Duration, bool)) error { return errNone }

// Judge does nothing.
func (*Collector) Judge(reassembly.Key, reassembly.Verdict) {}

// Lost is empty.
func (*Collector) Lost() map[string]uint64 { return nil }

// Stop does nothing.
func (*Collector) Stop() {}

// Close does nothing.
func (*Collector) Close() {}

// Drop does nothing.
func Drop(int, int, bool) error { return nil }

// MayBecome is false.
func MayBecome() bool { return false }

// Owner is not known.
func Owner(string) (uid, gid int) { return 0, 0 }

// Known knows nothing.
func Known(*reassembly.Process) {}

// Holder knows nobody.
func Holder(reassembly.Key, int, bool) *reassembly.Process { return nil }

// Named names nobody.
func Named(pid int) reassembly.Process { return reassembly.Process{PID: pid} }

// WithChildren adds nobody.
func WithChildren(pids []int) []int { return pids }

// Parent is not known.
func Parent(int) int { return 0 }

// Alive is false.
func Alive(int) bool { return false }
