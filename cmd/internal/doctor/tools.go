package doctor

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// maxSaid bounds what is kept of a program's output.
const maxSaid = 16 << 10

// run executes a program and returns the beginning of what it said.
func run(ctx context.Context, cmd *exec.Cmd) (string, error) {
	var said bounded
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return strings.TrimSpace(said.String()), err
}

// bounded keeps the first bytes written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxSaid - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return strings.TrimSpace(line[:min(len(line), 200)])
}

// tool asks the first of the named programs that is there for its version.
func tool(hint string, names ...string) func(context.Context) sandbox.Support {
	return func(ctx context.Context) sandbox.Support {
		for _, name := range names {
			path, err := shown.Program(name)
			if errors.Is(err, exec.ErrNotFound) {
				continue
			}
			if err != nil {
				return unknown("%v", err)
			}
			said, err := run(ctx, exec.CommandContext(ctx, path, "--version"))
			if err != nil {
				return unknown("%s --version: %v", path, err)
			}
			return yes("%s, %s", firstLine(said), path)
		}
		return no(hint, "%s is not in PATH", names[0])
	}
}

var straceVersion = regexp.MustCompile(`version (\d+)\.(\d+)`)

const straceHint = "install strace 5.3 or newer (apt install strace, dnf install strace)"

// straceWorks traces a program: that strace is there does not mean that it may.
func straceWorks(ctx context.Context) sandbox.Support {
	path, err := shown.Program("strace")
	if err != nil {
		return no(straceHint, "strace is not in PATH")
	}
	said, err := run(ctx, exec.CommandContext(ctx, path, "-V"))
	if err != nil {
		return unknown("%s -V: %v", path, err)
	}
	m := straceVersion.FindStringSubmatch(said)
	if m == nil {
		return unknown("%s does not say its version: %s", path, firstLine(said))
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < 5 || major == 5 && minor < 3 {
		return no(straceHint, "strace %s.%s has no --seccomp-bpf", m[1], m[2])
	}
	program, err := exec.LookPath("true")
	if err != nil {
		return unknown("strace %s.%s, but there is no program to try it on", m[1], m[2])
	}
	said, err = run(ctx, exec.CommandContext(ctx, path, "-f", "--seccomp-bpf", "-e", "trace=execve,exit_group", program))
	switch {
	case ctx.Err() != nil:
		return unknown("strace %s.%s does not end", m[1], m[2])
	case strings.Contains(said, "seccomp") && strings.Contains(said, "unavailable"):
		return no("tracing works, but some 200 times slower for a server that makes many calls: use a kernel with seccomp",
			"strace %s.%s cannot use seccomp here: %s", m[1], m[2], firstLine(said))
	case err != nil || !strings.Contains(said, "exit_group("):
		return no("allow ptrace: in a container --cap-add SYS_PTRACE, else see kernel.yama.ptrace_scope",
			"strace %s.%s cannot trace: %s", m[1], m[2], firstLine(said))
	}
	return yes("strace %s.%s traces with --seccomp-bpf", m[1], m[2])
}
