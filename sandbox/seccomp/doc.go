// Package seccomp keeps a target from the parts of the kernel that no honest
// server needs and that most local exploits of Linux begin with: user
// namespaces, userfaultfd, keyrings, bpf, kernel modules, io_uring, the sockets
// of rare families, and the calls of other architectures.
//
// A call that a filter answers by itself is seen by no tracer: seccomp comes
// before the tracepoint sys_enter and outranks strace's filter. The filter
// therefore hands each refused call to a listener (seccomp_unotify(2)), which
// records it and answers with the errno. A task has at most one listener, so
// the target cannot install another.
//
// The package must never let a call go on that the filter has handed over
// (SECCOMP_USER_NOTIF_FLAG_CONTINUE): the target could rewrite its arguments
// after they were read.
package seccomp
