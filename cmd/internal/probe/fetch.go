package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// fetch fetches what the options name, with nothing of it run.
func fetch(ctx context.Context, b sandbox.Backend, o *plan.Options, h *helpers) (*plan.Fetched, error) {
	if b.Name() == "inplace" {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("%s: nothing is fetched in a container without a network", o.Package), Hint: "run coalmine outside of it, or put the package into the image and probe its command"}
	}
	cache := install.Cache{Dir: o.Cache}
	if o.Cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return nil, plan.Mendable(err)
		}
	}
	box := &clients{opts: o, helpers: h, trees: cache, cache: filepath.Join(cache.Dir, install.Archives)}
	at, err := dated(o)
	if err != nil {
		return nil, err
	}
	f := &install.Fetcher{Cache: cache, Sandbox: box.run, Progress: o.Progress, AsOf: at}
	in := &plan.Fetched{Cache: cache, Package: session.Package{Kind: o.Package.Kind, Name: o.Package.Name, Bin: o.Package.Bin}}
	switch o.Package.Kind {
	case install.KindOCI:
		return in, fetchImage(ctx, in, o)
	case install.KindPyPI:
		var py *install.Python
		if py, err = box.pythonOf(ctx, b); err == nil {
			in.Tree, err = f.PyPI(ctx, *o.Package, py)
		}
	case install.KindDirectory:
		var out string
		if out, err = filepath.Abs(o.Out); err != nil {
			return nil, err
		}
		in.Tree, err = f.Directory(ctx, *o.Package, out, install.Queries{
			Python: func() (*install.Python, error) { return box.pythonOf(ctx, b) }, Go: func() (string, error) { return box.queryGo(ctx, b) },
		})
	default:
		in.Tree, err = f.NPM(ctx, *o.Package)
	}
	if err != nil {
		return nil, plan.Mendable(err)
	}
	if o.NoBuild && (in.Tree.Pending || in.Tree.Native) {
		err = &sandbox.UsageError{Err: fmt.Errorf("%s: without its build there is nothing to run", o.Package), Hint: "leave --no-build out"}
		return nil, errors.Join(err, in.Tree.Remove())
	}
	if in.Bin, err = in.Tree.Choose(o.Package.Bin); err != nil {
		return nil, errors.Join(plan.Mendable(err), in.Tree.Remove())
	}
	describe(in, o)
	asOf(in, f, o.AsOfWhy)
	return in, nil
}

// describe says in the log what was fetched.
func describe(in *plan.Fetched, o *plan.Options) {
	t := in.Tree
	again := *o.Package
	if again.Kind == install.KindDirectory {
		again.Name = plan.Relative(again.Name)
	} else {
		again.Version = t.Version
	}
	in.Package.Name, in.Package.Version, in.Package.Integrity, in.Package.Digest, in.Package.Packages = cmp.Or(t.Name, filepath.Base(o.Package.Name)), t.Version, t.Integrity, t.Digest, t.Packages
	in.Package.Again = append([]string{again.String()}, o.Args...)
	in.Package.Build.State = session.BuildNone
	if len(t.Steps) > 0 {
		in.Package.Build.State, in.Package.Build.Why = session.BuildSkipped, "the run ended before it"
	}
}

// fetchImage has the engine fetch an image, and takes what it says of itself.
func fetchImage(ctx context.Context, in *plan.Fetched, o *plan.Options) error {
	get := docker.Pull
	if o.Offline {
		get = func(ctx context.Context, name string, _ func(string)) (*docker.Image, error) {
			return docker.Inspect(ctx, name)
		}
	}
	img, err := get(ctx, o.Package.Name, o.Progress)
	if err != nil {
		return err
	}
	in.Image = img
	in.Package.Digest, in.Package.Packages = img.Digest, 1
	in.Package.Again = append([]string{o.Package.String()}, o.Args...)
	in.Package.Build.State = session.BuildNone
	if len(img.Entrypoint)+len(img.Cmd)+len(o.Args) == 0 && o.Entrypoint == "" {
		return &sandbox.UsageError{Err: fmt.Errorf("the image %s names no command", o.Package.Name), Hint: "coalmine probe oci:IMAGE -- COMMAND…"}
	}
	return copySource(ctx, in, o)
}

// copySource takes the server's source out of an image, to be audited.
func copySource(ctx context.Context, in *plan.Fetched, o *plan.Options) error {
	id, err := plan.NewRunID()
	if err != nil {
		return err
	}
	if in.Copied, err = in.Cache.Temp(); err != nil {
		return plan.Mendable(err)
	}
	in.Top, err = docker.Source(ctx, o.Package.Name, in.Image, in.ImageCommand(o), in.Copied, id)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), in.Remove())
	}
	in.Unread = err // the server can be run all the same
	return nil
}
