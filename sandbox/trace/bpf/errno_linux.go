package bpf

import "golang.org/x/sys/unix"

func errnoName(n int64) string { return unix.ErrnoName(unix.Errno(n)) }
