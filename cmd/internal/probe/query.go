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
func query(ctx context.Context, b sandbox.Backend, o *plan.Options, tools []string, command ...string) (string, error) {
	p, err := experiment.Query.Of(&experiment.Case{Plan: plan.Helper(o, tools, command...)})
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, run.StartTimeout)
	defer cancel()
	out := &listener{}
	_, _, err = run.Runner{Backend: b, Progress: o.Progress}.Start(ctx, p.Limited(agent.Limits{Wall: time.Minute, Memory: 1 << 30}), out)
	return out.text(), err
}

// queryPython asks the interpreter that the server will have what it can load.
func queryPython(ctx context.Context, b sandbox.Backend, o *plan.Options) (*install.Python, error) {
	out, err := query(ctx, b, o, nil, "python3", "-I", "-c", install.PythonQuery)
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
func queryGo(ctx context.Context, b sandbox.Backend, o *plan.Options) (string, error) {
	out, err := query(ctx, b, o, []string{"go"}, "/bin/sh", "-c", install.GoQuery)
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
