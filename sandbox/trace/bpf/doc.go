// Package bpf watches a sandbox's processes from the host with eBPF programs on
// the kernel's raw tracepoints, and yields the records that strace would.
//
// Arguments are read when a call returns, from the registers in which they still
// stand, and what they point to as the kernel read it; an opened file's path is the kernel's own, walked from the
// descriptor. A task belongs to the sandbox if its pid namespace, or one of those
// above it, is the sandbox's: what makes itself a namespace is seen all the same.
// Outside a sandbox the tracer can watch chosen processes and what they start instead.
// The target cannot tell that it is watched: nothing traces it, nothing of the
// tracer is in the sandbox.
//
// It needs CAP_BPF and CAP_PERFMON, a kernel with BTF (5.11 or later, amd64 or
// arm64), and a sandbox on this machine's kernel. It can refuse nothing: what
// must not be done the agent forbids by a filter, and the attempt is seen.
//
// It must never trust what it reads of a task's memory, never change anything of
// the machine that outlives its process, and never lose an event silently: what
// found no room is counted by the kernel's side and told as loss.
package bpf
