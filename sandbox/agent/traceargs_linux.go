package agent

// traceArgs are strace's own arguments.
func traceArgs(set, out string) []string {
	_ = set
	return []string{"-f", "--seccomp-bpf", "-ttt", "-y", "-qq", "-o", out, "-e", "trace=execve,openat,connect,clone,clone3,vfork,fork,chdir,kill"}
}
