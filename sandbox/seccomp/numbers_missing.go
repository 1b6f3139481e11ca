//go:build linux && !amd64 && !arm64

package seccomp

// Without a table of calls there is no filter, and Install fails.
var (
	numbers map[string]uint32
	foreign map[uint32]string
)

const native = 0
