package stage

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// comm is what every process of coalmine's calls itself in a sandbox.
const comm = "init"

// SetComm names the calling thread.
func SetComm() {
	if name, err := unix.BytePtrFromString(comm); err == nil {
		_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(name)), 0, 0, 0)
	}
}

// NameThreads renames this process and all of its threads: those that the Go
// runtime made before us bear the name of the program's file, and so does what one
// of them starts meanwhile. Nobody is left when a look at all finds none to rename.
func NameThreads() {
	for range 100 {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		renamed := false
		for _, t := range tasks {
			file := "/proc/self/task/" + t.Name() + "/comm"
			if name, err := os.ReadFile(file); err == nil && string(name) != comm+"\n" {
				renamed = os.WriteFile(file, []byte(comm), 0) == nil || renamed
			}
		}
		if !renamed {
			return
		}
	}
}
