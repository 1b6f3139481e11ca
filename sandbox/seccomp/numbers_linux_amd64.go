package seccomp

import "golang.org/x/sys/unix"

const native = unix.AUDIT_ARCH_X86_64
