//go:build !linux

package agent

import "runtime"

// Invoked reports whether this process was started to be an agent, which only
// happens on Linux.
func Invoked() bool { return false }

// Main fails: a sandbox needs Linux.
func Main() int {
	println("init: a sandbox needs Linux, this is", runtime.GOOS)
	return 1
}
