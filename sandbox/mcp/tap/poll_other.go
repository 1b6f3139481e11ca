//go:build !unix

package tap

import (
	"io"
	"os"
)

// pollable is for systems that have poll(2).
func pollable(f *os.File, _ bool) io.ReadWriteCloser { return f }
