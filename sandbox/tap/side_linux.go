package tap

import (
	"os"

	"golang.org/x/sys/unix"
)

// pipeSize is the default of /proc/sys/fs/pipe-max-size.
const pipeSize = 1 << 20

// widen enlarges a pipe; that it may not is no fault.
func widen(f *os.File) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) {
		if n, err := unix.FcntlInt(fd, unix.F_GETPIPE_SZ, 0); err == nil && n < pipeSize {
			_, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, pipeSize)
		}
	})
}
