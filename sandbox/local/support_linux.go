package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
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
	if s.Hint == "" {
		_, s.Hint = whyNoNamespaces()
	}
	return s
}

// try runs one program in a sandbox.
func (b *Backend) try(ctx context.Context) error {
	run, err := sandbox.Start(ctx, b, sandbox.Spec{
		Command: []string{"/bin/sh", "-c", "exit 0"}, Env: []string{"PATH=/usr/bin:/bin"}, TraceSet: "core",
		User: agent.User{Name: "user", UID: 1000, GID: 1000, Home: "/home/user"},
	}, sandbox.NopSink{})
	if err != nil {
		return err
	}
	_, err = run.Wait(ctx)
	return errors.Join(err, run.Close(ctx))
}

// whyNoNamespaces looks for the setting that forbids them.
func whyNoNamespaces() (reason, hint string) {
	root := os.Geteuid() == 0
	switch {
	case oldKernel():
		return "the kernel is older than 5.12", "use --sandbox docker"
	case Sysctl("user/max_user_namespaces") == "0":
		return "user namespaces are disabled", "sysctl -w user.max_user_namespaces=10000, or use --sandbox docker"
	case !root && Sysctl("kernel/unprivileged_userns_clone") == "0":
		return "user namespaces are reserved for root", "sysctl -w kernel.unprivileged_userns_clone=1, sudo, or --sandbox docker"
	case !root && Sysctl("kernel/apparmor_restrict_unprivileged_userns") == "1":
		return "AppArmor restricts the namespaces of ordinary users", "sudo, --sandbox docker, or sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
	case inContainer():
		return "this is a container, which forbids namespaces", "run coalmine outside of it, or run the container as docs/install.md says, so that it is the sandbox itself"
	}
	return "the kernel refuses namespaces", "use --sandbox docker, or look at what restricts this process (seccomp, an LSM)"
}

// oldKernel says that mount_setattr(2) is not there yet.
func oldKernel() bool {
	err := unix.MountSetattr(-1, "", 0, &unix.MountAttr{})
	return errors.Is(err, unix.ENOSYS)
}

// Sysctl reads a setting of the kernel, "" where there is none.
func Sysctl(name string) string {
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
