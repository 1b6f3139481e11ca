//go:build unix

package session

import "syscall"

// NoFollow are flags for opening a file that somebody hostile may have put there: a link is
// refused, and a FIFO's other end is not waited for.
const NoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
