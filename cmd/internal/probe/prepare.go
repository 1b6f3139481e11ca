package probe

import (
	"context"
	"errors"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// Prepared is a target that was fetched, and not started.
type Prepared struct {
	// Name is what names it again, with its version.
	Name string
	// Digest is that of all that was fetched.
	Digest string
	// Image is the image's name, "" for a package.
	Image string
	// Missing says what only a build fetches, "" for nothing.
	Missing string
}

// Prepare fetches what the options name into their Cache. Nothing of it runs.
func Prepare(ctx context.Context, o plan.Options) (p Prepared, err error) {
	o.Fill()
	if o.Package.Kind == install.KindOCI {
		img, err := docker.Pull(ctx, o.Package.Name, o.Progress)
		if err != nil {
			return p, err
		}
		return Prepared{Name: o.Package.String(), Digest: img.Digest, Image: o.Package.Name}, nil
	}
	at, err := selectPlace(ctx, &o)
	if err != nil {
		return p, err
	}
	h := &helpers{}
	defer func() { err = errors.Join(err, h.remove()) }()
	in, err := fetch(ctx, at.backend, &o, h)
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, in.Remove()) }()
	p = Prepared{Name: in.Package.Again[0], Digest: in.Package.Digest}
	switch {
	case in.Tree.Pending:
		p.Missing = "what its build asks for once it has run"
	case len(in.Tree.Steps) > 0:
		p.Missing = "what its scripts download"
	}
	return p, nil
}
