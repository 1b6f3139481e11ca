//go:build !unix

package tap

import "os"

func pollable(f *os.File) *os.File { return f }
