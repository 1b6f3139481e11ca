//go:build unix

package session

import "syscall"

// noFollow refuses a link, and does not wait for a FIFO's other end.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
