package probe

import (
	"context"
	"errors"
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/inplace"
	"github.com/coalmine-dev/coalmine/sandbox/local"
)

// choose picks the backend. In a container of ours that container is the
// sandbox, since it allows no other. Else, with "auto", docker is preferred, since an image is
// a cleaner place; why says what decided.
func choose(ctx context.Context, o Options) (b sandbox.Backend, why string, err error) {
	d, l := docker.New(o.Image), local.New()
	switch o.Sandbox {
	case "docker":
		return d, "", nil
	case "inplace":
		b := inplace.New()
		return b, "", supported(ctx, b, o)
	case "local":
		return l, "", supported(ctx, l, o)
	case "auto":
		if inplace.Here() {
			b := inplace.New()
			return b, "in place: this container is the sandbox", supported(ctx, b, o)
		}
		s := d.Supported(ctx)
		if s.OK == sandbox.Yes {
			return d, "docker: " + s.Reason, nil
		}
		return l, "local, since docker is not to be had: " + s.Reason, supported(ctx, l, o)
	}
	return nil, "", &sandbox.UsageError{Err: fmt.Errorf("--sandbox %s is not known", o.Sandbox), Hint: "auto, docker, local or inplace"}
}

// supported asks the backend. A local run without a tracer in it needs less: its
// start says what is missing.
func supported(ctx context.Context, b sandbox.Backend, o Options) error {
	if allows(o.Network) && b.Name() == "inplace" {
		return &sandbox.UsageError{Err: errors.New("in place this process has no network either, so that no host can be allowed"), Hint: "use --sandbox docker or local, outside the container"}
	}
	if (o.Tracer == sandbox.TracerEBPF || o.Tracer == TracerBoth) && b.Name() == "inplace" {
		return &sandbox.UsageError{Err: errors.New("in place there is no pid namespace to be watched from outside"), Hint: "use --tracer strace"}
	}
	if (o.Tracer == sandbox.TracerEBPF || o.Tracer == "none") && b.Name() == "local" {
		return nil
	}
	if s := b.Supported(ctx); s.OK == sandbox.No {
		return &sandbox.UsageError{Err: fmt.Errorf("the %s sandbox does not work here: %s", b.Name(), s.Reason), Hint: s.Hint}
	}
	return nil
}
