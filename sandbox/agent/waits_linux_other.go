//go:build linux && !amd64

package agent

// Calls that this architecture does not have: numbers that no call has.
const (
	sysPause = -2 - iota
	sysPoll
	sysSelect
	sysEpollWait
)
