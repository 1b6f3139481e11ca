package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/inplace"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

// place is where a server runs and what watches it.
type place struct {
	backend sandbox.Backend
	tracer  string
	why     string // what decided, where it was left to coalmine
}

// selectPlace picks the backend and the tracer.
func selectPlace(ctx context.Context, o *plan.Options) (place, error) {
	b, why, err := pick(ctx, o)
	if err != nil {
		return place{}, err
	}
	c := place{backend: b, tracer: o.Tracer, why: why}
	if c.tracer == plan.TracerAuto {
		var reason string
		c.tracer, reason = unseenIfAllowed(ctx, b, o)
		if why != "" {
			c.why += "; tracer: " + c.tracer + reason
		}
	}
	settled := *o
	settled.Tracer = c.tracer
	if err := fits(b, &settled); err != nil || b.Name() == "docker" {
		return c, err // docker's start says what is missing
	}
	return c, supported(ctx, b, &settled)
}

// fits refuses what the flags ask of each other in vain: a run must not be less apart
// from this machine, or less watched, than was asked for.
func fits(b sandbox.Backend, o *plan.Options) error {
	for _, f := range []struct{ flag, value string }{{"--image", o.Image}, {"--runtime", o.Runtime}} {
		if f.value != "" && b.Name() != "docker" {
			return &sandbox.UsageError{
				Err:  fmt.Errorf("%s %s is for containers, and the sandbox is %s", f.flag, f.value, b.Name()),
				Hint: "use --sandbox docker with a Docker Engine, or leave out " + f.flag,
			}
		}
	}
	if (o.Tracer == sandbox.TracerEBPF || o.Tracer == plan.TracerBoth) && !docker.SharesKernel(o.Runtime) {
		return &sandbox.UsageError{
			Err:  fmt.Errorf("--tracer %s sees nothing of what runs in --runtime %s: another kernel may be in it", o.Tracer, o.Runtime),
			Hint: "use --tracer strace",
		}
	}
	return nil
}

// unseenIfAllowed prefers the tracer that a server cannot see, and says why not.
func unseenIfAllowed(ctx context.Context, b sandbox.Backend, o *plan.Options) (tracer, why string) {
	if !docker.SharesKernel(o.Runtime) {
		return sandbox.TracerStrace, ", since another kernel may be in the runtime " + o.Runtime
	}
	if s := sandbox.Watchable(ctx, b); s.OK != sandbox.Yes {
		return sandbox.TracerStrace, ", since eBPF is not available: " + s.Reason
	}
	return sandbox.TracerEBPF, ""
}

// pick finds the backend. With "auto" a container of ours that may be the sandbox is it; one that has an engine's socket
// in its place starts containers beside itself. Elsewhere docker is preferred, since an image is a cleaner place; why says
// what decided.
func pick(ctx context.Context, o *plan.Options) (b sandbox.Backend, why string, err error) {
	d, l := docker.New(o.Image), local.New()
	switch o.Sandbox {
	case "docker":
		return d, "", nil
	case "inplace":
		return inplace.New(), "", nil
	case "local":
		return l, "", nil
	case "auto":
		if mayBeSandbox(ctx) {
			return inplace.New(), "in place: this container is the sandbox", nil
		}
		s := d.Supported(ctx)
		if inplace.Here() && s.OK != sandbox.Yes {
			return inplace.New(), "in place: this container has no engine's socket", nil
		}
		if s.OK == sandbox.Yes {
			return d, "docker: " + s.Reason, nil
		}
		return l, "local, since docker is not available: " + s.Reason, nil
	}
	return nil, "", &sandbox.UsageError{Err: fmt.Errorf("--sandbox %s is not known", o.Sandbox), Hint: "auto, docker, local or inplace"}
}

// mayBeSandbox reports whether this process is in a container in which servers can run.
func mayBeSandbox(ctx context.Context) bool {
	return inplace.Here() && inplace.New().Supported(ctx).OK != sandbox.No
}

// supported asks the backend. A local run without a tracer in it needs less: its
// start says what is missing.
func supported(ctx context.Context, b sandbox.Backend, o *plan.Options) error {
	if plan.Allows(o.Network) && b.Name() == "inplace" {
		return &sandbox.UsageError{Err: errors.New("in place this process has no network either, so that no host can be allowed"), Hint: "use --sandbox docker or local, outside the container"}
	}
	if (o.Tracer == sandbox.TracerEBPF || o.Tracer == plan.TracerBoth) && b.Name() == "inplace" {
		return &sandbox.UsageError{Err: errors.New("in place there is no pid namespace to be watched from outside"), Hint: "use --tracer strace"}
	}
	if (o.Tracer == sandbox.TracerEBPF || o.Tracer == plan.TracerNone) && b.Name() == "local" {
		return nil
	}
	if s := b.Supported(ctx); s.OK == sandbox.No {
		return &sandbox.UsageError{Err: fmt.Errorf("the %s sandbox does not work here: %s", b.Name(), s.Reason), Hint: s.Hint}
	}
	return nil
}
