package probe

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// ask runs a command in a sandbox like the server's, and returns what it prints.
func ask(ctx context.Context, b sandbox.Backend, o *Options, tools []string, command ...string) (string, error) {
	id, err := newRunID()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	out := &listener{}
	run, err := sandbox.Start(ctx, b, sandbox.Spec{
		Command: command, Tools: tools, Dir: "/", Hostname: "localhost", Image: o.Image, Runtime: o.Runtime, AgentPath: o.AgentPath,
		Env:  []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"},
		User: agent.User{Name: "user", UID: uid, GID: uid, Home: "/home/user"}, Limits: agent.Limits{Wall: time.Minute, Memory: 1 << 30}, RunID: id,
	}, out)
	if err != nil {
		return "", err
	}
	_, waitErr := run.Wait(ctx)
	return out.text(), errors.Join(waitErr, run.Close(context.WithoutCancel(ctx)))
}

// askPython asks the interpreter that the server will have what it can load.
func askPython(ctx context.Context, b sandbox.Backend, o *Options) (*install.Python, error) {
	out, err := ask(ctx, b, o, nil, "python3", "-I", "-c", install.AskPython)
	if err != nil {
		return nil, fmt.Errorf("ask the sandbox's Python: %w", err)
	}
	py, err := install.DecodePython(out)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "install python3, or name an image that has it by --image"}
	}
	return py, nil
}

// askGo asks the toolchain that a build will have for its version.
func askGo(ctx context.Context, b sandbox.Backend, o *Options) (string, error) {
	out, err := ask(ctx, b, o, []string{"go"}, "/bin/sh", "-c", install.AskGo)
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
