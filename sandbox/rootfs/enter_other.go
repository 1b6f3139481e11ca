//go:build !linux

package rootfs

import (
	"errors"
	"fmt"
	"runtime"
)

// Enter fails: only Linux has mount namespaces.
func Enter(Layout, int, int) error {
	return fmt.Errorf("build a sandbox root on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}

// Bound fails: only Linux has mount namespaces.
func Bound(int64) error {
	return fmt.Errorf("bound the root on %s: %w", runtime.GOOS, errors.ErrUnsupported)
}
