package docker

import (
	"fmt"
	"os"
	"strings"
)

func bootID() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

func pidNamespace() string {
	ns, _ := os.Readlink("/proc/self/ns/pid")
	return ns
}

// startTime is when a process began, in ticks since the boot; "" if there is none.
func startTime(pid int) string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything, so count from its end.
	const field = 22 - 3
	rest := string(b)[strings.LastIndexByte(string(b), ')')+1:]
	fields := strings.Fields(rest)
	if len(fields) <= field || fields[0] == "Z" {
		return ""
	}
	return fields[field]
}
