package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/experiment"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// query runs a command in a sandbox like the server's, and returns what it prints.
func (c *clients) query(ctx context.Context, b sandbox.Backend, tools []string, command ...string) (string, error) {
	p := plan.Helper{Command: command, Tools: tools, Limits: agent.Limits{Wall: time.Minute, Memory: 1 << 30}}.Plan(c.opts)
	ctx, cancel := context.WithTimeout(ctx, run.StartTimeout)
	defer cancel()
	out := &listener{}
	_, err := c.helpers.run(ctx, run.Runner{Backend: b, Progress: c.opts.Progress, Sink: out}, &experiment.Query, p, c.trees)
	return out.text(), err
}

// queryPython asks the interpreter that the server will have what it can load.
func (c *clients) queryPython(ctx context.Context, b sandbox.Backend) (*install.Python, error) {
	out, err := c.query(ctx, b, nil, "python3", "-I", "-c", install.PythonQuery)
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox's Python: %w", err)
	}
	py, err := install.DecodePython(out)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "install python3, or name an image that has it by --image"}
	}
	return py, nil
}

// queryGo asks the toolchain that a build will have for its version.
func (c *clients) queryGo(ctx context.Context, b sandbox.Backend) (string, error) {
	out, err := c.query(ctx, b, []string{"go"}, "/bin/sh", "-c", install.GoQuery)
	if err != nil {
		return "", fmt.Errorf("ask the sandbox's Go: %w", err)
	}
	version := strings.TrimSpace(out)
	if !strings.HasPrefix(version, "go1.") {
		return "", &sandbox.UsageError{
			Err:  fmt.Errorf("the %s sandbox has no Go to build the program with", b.Name()),
			Hint: "--sandbox local shows this machine's, --image names an image that has one; or build the program and probe it: coalmine probe -- ./PROGRAM",
		}
	}
	return version, nil
}

// listener keeps the beginning of what a program prints.
type listener struct {
	sandbox.NopSink
	mu  sync.Mutex
	out []byte
}

func (l *listener) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(slices.Clone(l.out))
}

// Stdout implements sandbox.Sink.
func (l *listener) Stdout(_ time.Duration, p []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out = append(l.out, p[:min(len(p), 64<<10-len(l.out))]...)
}
