package probe

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// fetched is a target that had to be fetched.
type fetched struct {
	// tree is what was fetched, nil for an image; image is nil for all others.
	tree  *install.Tree
	image *docker.Image
	bin   install.Bin
	cache install.Cache
	pkg   session.Package
	// built is the directory of the tree after its build, "" without one.
	built string
	// copied is where an image's source was copied to, top the server's own in it, "" for none.
	copied, top string
	// unread says why it could not be copied.
	unread error
}

// usageOf makes an error of install's one that the user can mend.
func usageOf(err error) error {
	var mend *install.Error
	if errors.As(err, &mend) {
		return &sandbox.UsageError{Err: err, Hint: mend.Hint}
	}
	return err
}

// install fetches what the options name, with nothing of it run.
func (o *Options) install(ctx context.Context, b sandbox.Backend) (*fetched, error) {
	if b.Name() == "inplace" {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("%s: nothing is fetched in a container without a network", o.Package), Hint: "run coalmine outside of it, or put the package into the image and probe its command"}
	}
	cache := install.Cache{Dir: o.Cache}
	if o.Cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return nil, usageOf(err)
		}
	}
	f := &install.Fetcher{Cache: cache, Progress: o.Progress}
	in := &fetched{cache: cache, pkg: session.Package{Kind: o.Package.Kind, Name: o.Package.Name, Bin: o.Package.Bin}}
	var err error
	switch o.Package.Kind {
	case install.KindOCI:
		return in, in.fetchImage(ctx, o)
	case install.KindPyPI:
		var py *install.Python
		if py, err = askPython(ctx, b, o); err == nil {
			in.tree, err = f.PyPI(ctx, *o.Package, py)
		}
	case install.KindDirectory:
		var out string
		if out, err = filepath.Abs(o.Out); err != nil {
			return nil, err
		}
		in.tree, err = f.Directory(ctx, *o.Package, out, install.Asker{
			Python: func() (*install.Python, error) { return askPython(ctx, b, o) }, Go: func() (string, error) { return askGo(ctx, b, o) },
		})
	default:
		in.tree, err = f.NPM(ctx, *o.Package)
	}
	if err != nil {
		return nil, usageOf(err)
	}
	if o.NoBuild && (in.tree.Pending || in.tree.Native) {
		err = &sandbox.UsageError{Err: fmt.Errorf("%s: without its build there is nothing to run", o.Package), Hint: "leave --no-build out"}
		return nil, errors.Join(err, in.tree.Remove())
	}
	if in.bin, err = in.tree.Choose(o.Package.Bin); err != nil {
		return nil, errors.Join(usageOf(err), in.tree.Remove())
	}
	in.describe(o)
	return in, nil
}

// describe says in the log what was fetched.
func (in *fetched) describe(o *Options) {
	t := in.tree
	again := *o.Package
	if again.Kind == install.KindDirectory {
		again.Name = relative(again.Name)
	} else {
		again.Version = t.Version
	}
	in.pkg.Name, in.pkg.Version, in.pkg.Integrity, in.pkg.Digest, in.pkg.Packages = cmp.Or(t.Name, filepath.Base(o.Package.Name)), t.Version, t.Integrity, t.Digest, t.Packages
	in.pkg.Again = append([]string{again.String()}, o.Args...)
	in.pkg.Build.State = session.BuildNone
	if len(t.Steps) > 0 {
		in.pkg.Build.State, in.pkg.Build.Why = session.BuildSkipped, "the run ended before it"
	}
}

// fetchImage has the engine fetch an image, and takes what it says of itself.
func (in *fetched) fetchImage(ctx context.Context, o *Options) error {
	img, err := docker.Pull(ctx, o.Package.Name, o.Progress)
	if err != nil {
		return err
	}
	in.image = img
	in.pkg.Digest, in.pkg.Packages = img.Digest, 1
	in.pkg.Again = append([]string{o.Package.String()}, o.Args...)
	in.pkg.Build.State = session.BuildNone
	if len(img.Entrypoint)+len(img.Cmd)+len(o.Args) == 0 && o.Entrypoint == "" {
		return &sandbox.UsageError{Err: fmt.Errorf("the image %s names no command", o.Package.Name), Hint: "coalmine probe oci:IMAGE -- COMMAND…"}
	}
	return in.copySource(ctx, o)
}

// copySource takes the server's source out of an image, to be audited.
func (in *fetched) copySource(ctx context.Context, o *Options) error {
	id, err := newRunID()
	if err != nil {
		return err
	}
	if in.copied, err = in.cache.Temp(); err != nil {
		return usageOf(err)
	}
	in.top, err = docker.Source(ctx, o.Package.Name, in.image, in.imageCommand(o), in.copied, id)
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), in.remove())
	}
	in.unread = err // the server can be run all the same
	return nil
}

// imageCommand is what an engine would run of an image: its entry point with its
// command, or with the arguments given.
func (in *fetched) imageCommand(o *Options) []string {
	entry, args := in.image.Entrypoint, in.image.Cmd
	if o.Entrypoint != "" {
		entry, args = []string{o.Entrypoint}, nil
	}
	if len(o.Args) > 0 {
		args = o.Args
	}
	return slices.Concat(entry, args)
}

// remove removes what is this run's alone.
func (in *fetched) remove() error {
	if in == nil {
		return nil
	}
	var err error
	if in.tree != nil {
		err = in.tree.Remove()
	}
	for _, dir := range []string{in.built, in.copied} {
		if dir != "" {
			err = errors.Join(err, os.RemoveAll(dir))
		}
	}
	return err
}

// id names the tree where it is shown: the same for the same files.
func (in *fetched) id() string {
	sum := sha256.Sum256([]byte(in.tree.Digest))
	return hex.EncodeToString(sum[:])[:16]
}

// place is where a package's runner would have put it.
func (in *fetched) place(home string) string {
	switch in.tree.Spec.Kind {
	case install.KindPyPI:
		return filepath.Join(home, ".cache", "uv", "archive-v0", in.id())
	case install.KindDirectory:
		return filepath.Join(home, "src", filepath.Base(in.tree.Spec.Name))
	}
	return filepath.Join(home, ".npm", "_npx", in.id())
}

// command starts the package's program as its runner would.
func (in *fetched) command(dir string, args []string) []string {
	bin := in.bin.Path
	if in.tree.Native {
		return append([]string{filepath.Join(dir, bin)}, args...)
	}
	if in.tree.Python != nil {
		return append([]string{filepath.Join(dir, in.tree.Env, "bin", "python"), filepath.Join(dir, bin)}, args...)
	}
	if link := filepath.Join("node_modules", ".bin", in.bin.Name); in.tree.Spec.Kind == install.KindNPM && isThere(filepath.Join(in.tree.Host, link)) {
		bin = link
	}
	return append([]string{"node", filepath.Join(dir, bin)}, args...)
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// host is the directory that the server's files come from.
func (in *fetched) host() string {
	if in.built != "" {
		return in.built
	}
	return in.tree.Host
}

// source is the package's own part of it, to be audited.
func (in *fetched) source() string {
	if in.tree == nil {
		return in.top
	}
	if in.tree.Root == "" {
		return ""
	}
	if in.tree.Spec.Kind == install.KindDirectory {
		return in.tree.Spec.Name
	}
	return filepath.Join(in.host(), in.tree.Root)
}

// files are what the place where the tree is shown has to be told: its scripts,
// and the way to it, which is the user's own.
func (in *fetched) files(dir, home string) []rootfs.File {
	var out []rootfs.File
	for d := filepath.Dir(dir); strings.HasPrefix(d, home+"/"); d = filepath.Dir(d) {
		out = append(out, rootfs.File{Path: d, Dir: true, Mode: 0o755})
	}
	slices.Reverse(out)
	for _, s := range in.tree.Scripts {
		out = append(out, rootfs.File{Path: filepath.Join(dir, s.Path), Mode: 0o755, Data: []byte(strings.ReplaceAll(s.Text, "{}", dir))})
	}
	return out
}

// location is the manifest of the package's own.
func (in *fetched) location() finding.Location {
	if in.tree == nil {
		return finding.Location{Path: in.pkg.Name, Line: 1}
	}
	for _, m := range append(slices.Clone(install.Manifests), "__init__.py") {
		if file := filepath.Join(in.source(), m); isThere(file) {
			return finding.Location{Path: relative(file), Line: 1}
		}
	}
	return finding.Location{Path: relative(in.source()), Line: 1}
}
