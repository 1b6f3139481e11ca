//go:build unix

package since

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// uid is the owner of a file.
func uid(name string) (int, error) {
	info, err := os.Stat(name)
	if err != nil {
		return 0, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, fmt.Errorf("the owner of %s is not known", name)
	}
	return int(stat.Uid), nil
}

// gone reports whether no process has this id.
func gone(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
