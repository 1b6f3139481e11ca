//go:build amd64 || arm64

package bpf

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// support is the answer, found once: it does not change while a process lives.
var support = sync.OnceValues(func() (ok, reason string) {
	if _, err := tables(runtime.GOARCH, trace.Looks); err != nil {
		return "no", err.Error()
	}
	if _, err := os.Stat("/sys/kernel/btf/vmlinux"); err != nil {
		return "no", "the kernel describes none of its structures (no BTF): " + err.Error()
	}
	// The set that runs ask for: its programs serve the first of them.
	t, err := Open(Options{PID: os.Getpid(), Set: trace.Looks})
	var refused *ebpf.VerifierError
	switch {
	case errors.As(err, &refused) && !errors.Is(err, unix.EPERM):
		// The kernel would watch; these programs are at fault.
		return "unknown", err.Error()
	case err == nil:
		defer t.Close()
		if err = t.Alive(); err != nil {
			return "unknown", err.Error()
		}
		return "yes", "programs load and see calls"
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, unix.ENOSYS), errors.Is(err, ebpf.ErrNotSupported):
		return "no", err.Error()
	}
	return "unknown", fmt.Sprint(err)
})

// Supported says "yes", "no" (this machine forbids it) or "unknown" (it should
// work, and does not) and why: it loads the programs, attaches
// them and looks whether they see a call of this process.
func Supported() (ok, reason string) { return support() }
