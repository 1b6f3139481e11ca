//go:build !linux

package tap

import "os"

// widen is for Linux's pipes.
func widen(*os.File) {}
