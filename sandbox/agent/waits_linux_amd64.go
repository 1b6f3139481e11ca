package agent

import "golang.org/x/sys/unix"

// Calls that not every architecture has.
const (
	sysPause     = unix.SYS_PAUSE
	sysPoll      = unix.SYS_POLL
	sysSelect    = unix.SYS_SELECT
	sysEpollWait = unix.SYS_EPOLL_WAIT
)
