package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
)

// trialTime bounds how long Supported tries.
const trialTime = 20 * time.Second

// Supported builds a sandbox around a program that ends at once, since the
// kernel's answer depends on more than its settings say. What it found is
// unknown when the machine was too slow to tell.
func (b *Backend) Supported(ctx context.Context) sandbox.Support {
	if _, err := findStrace(host{path: strings.Split(os.Getenv("PATH"), ":")}); err != nil {
		return refusal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, trialTime)
	defer cancel()
	err := b.try(ctx)
	switch {
	case err == nil:
		return sandbox.Support{OK: sandbox.Yes, Reason: how()}
	case ctx.Err() != nil:
		return sandbox.Support{OK: sandbox.Unknown, Reason: fmt.Sprintf("a trial did not end in time: %v", err)}
	}
	return refusal(err)
}

func how() string {
	if ids, err := newMapping(1000, 1000); err == nil && !ids.single {
		return "namespaces, as root: the server gets a user of its own"
	}
	return "namespaces, as an ordinary user"
}

func refusal(err error) sandbox.Support {
	s := sandbox.Support{OK: sandbox.No, Reason: err.Error()}
	var usage *sandbox.UsageError
	if errors.As(err, &usage) {
		s.Hint = usage.Hint
	}
	return s
}

// try runs one program in a sandbox and hears how that went.
func (b *Backend) try(ctx context.Context) error {
	user := agent.User{Name: "user", UID: 1000, GID: 1000, Home: "/home/user"}
	c, err := b.Start(ctx, sandbox.Spec{Command: []string{"/bin/sh", "-c", "exit 0"}, User: user, Env: []string{"PATH=/usr/bin:/bin"}, TraceSet: "core"})
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close(context.Background()) })
	defer stop()
	cfg := &agent.Config{User: user, Env: []string{"PATH=/usr/bin:/bin"}, TraceSet: "core"}
	c.Config(cfg)
	err = converse(c, cfg)
	return errors.Join(err, c.Close(ctx))
}

// converse sends a Config and reads events until the program has started.
func converse(c sandbox.Conn, cfg *agent.Config) error {
	payload, err := json.Marshal(cfg)
	if err != nil {
		return err
	}
	if err := mux.NewWriter(c).Write(mux.Frame{Stream: mux.Control, Payload: payload}); err != nil {
		return fmt.Errorf("local sandbox: the agent does not listen: %w: %s", err, c.Diagnostics())
	}
	for r := mux.NewReader(c); ; {
		f, err := r.Next()
		if err != nil {
			return fmt.Errorf("local sandbox: the agent ended: %w: %s", err, strings.TrimSpace(c.Diagnostics()))
		}
		if f.Stream != mux.Control {
			continue
		}
		var e agent.Event
		if err := json.Unmarshal(f.Payload, &e); err != nil {
			return fmt.Errorf("local sandbox: the agent's event: %w", err)
		}
		switch e.Type {
		case agent.EventStarted:
			return nil
		case agent.EventError:
			return explain(e)
		}
	}
}

// explain turns the agent's failure to set up into what the user can do.
func explain(e agent.Event) error {
	hint := e.Hint
	if hint == "" {
		_, hint = whyNoNamespaces()
	}
	return &sandbox.UsageError{Err: fmt.Errorf("local sandbox: %s", e.Reason), Hint: hint}
}

// whyNoNamespaces looks for the setting that forbids them.
func whyNoNamespaces() (reason, hint string) {
	root := os.Geteuid() == 0
	switch {
	case sysctl("user/max_user_namespaces") == "0":
		return "user namespaces are disabled", "sysctl -w user.max_user_namespaces=10000, or use --sandbox docker"
	case !root && sysctl("kernel/unprivileged_userns_clone") == "0":
		return "user namespaces are reserved for root", "sysctl -w kernel.unprivileged_userns_clone=1, sudo, or --sandbox docker"
	case !root && sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor restricts the namespaces of ordinary users", "sudo, --sandbox docker, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	case inContainer():
		return "this is a container, which forbids namespaces", "run coalmine outside of it, or run the container as README.md says, so that it is the sandbox itself"
	}
	return "the kernel refuses namespaces", "use --sandbox docker, or look at what restricts this process (seccomp, an LSM)"
}

func sysctl(name string) string {
	b, err := os.ReadFile("/proc/sys/" + name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// inContainer goes by what engines leave behind.
func inContainer() bool {
	for _, path := range []string{"/.dockerenv", "/run/.containerenv"} {
		if _, err := os.Stat(path); err == nil {
			return true
		}
	}
	return os.Getenv("container") != "" || os.Getenv("KUBERNETES_SERVICE_HOST") != ""
}
