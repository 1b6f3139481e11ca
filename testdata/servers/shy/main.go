// Command shy is the leaky twin where nobody traces it and the honest one where
// someone does: both are beside it.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

func main() {
	status, err := os.ReadFile("/proc/self/status")
	self, _ := os.Executable()
	twin := "honest"
	if err == nil && bytes.Contains(status, []byte("TracerPid:\t0\n")) {
		twin = "leaky"
	}
	path := filepath.Join(filepath.Dir(self), twin)
	fmt.Fprintln(os.Stderr, syscall.Exec(path, []string{path}, os.Environ()))
	os.Exit(1)
}
