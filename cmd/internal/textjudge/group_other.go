//go:build !unix

package textjudge

import "os/exec"

// ownGroup leaves a program as it is: this system has no groups of processes.
func ownGroup(*exec.Cmd) {}
