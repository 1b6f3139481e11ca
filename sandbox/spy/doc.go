// Package spy watches the MCP conversations of a whole machine with eBPF programs on the
// kernel's raw tracepoints, and yields the pieces of the streams on which JSON-RPC or
// HTTP/1 is spoken: pipes, unix sockets and pairs of them, and TCP on this machine.
// Package reassembly makes messages of them.
//
// A stream is recognised in the kernel by its first bytes: nothing of any other stream
// leaves the kernel. What is written is the truth; a reader is listened to only where
// the writer is not watched.
//
// It needs CAP_BPF and CAP_PERFMON, a kernel with BTF (5.11 or later, amd64 or arm64),
// and no tracefs. It must never change anything of the
// machine that outlives its process, never follow what its own process writes, never
// hold up or refuse a call, and never lose data silently: what found no room is counted.
package spy
