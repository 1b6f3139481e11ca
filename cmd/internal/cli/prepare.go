package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/prepare"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/docker"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// prepare packs what probes fetch for a machine without a network, and unpacks it there.
func (e *env) prepare() *cobra.Command {
	var out, load string
	var images []string
	f := &probeFlags{}
	cmd := &cobra.Command{
		Use: "prepare --out FILE TARGET…", Short: "Pack packages and images for a machine without a network",
		Long: "prepare fetches each target (npm:NAME@V, pypi:NAME==V, oci:IMAGE or a directory) as a probe does, and writes what\n" +
			"registries answered, and the images, to an archive. Nothing of a package runs. On the other machine, prepare --load\n" +
			"unpacks the archive into the cache and the Docker Engine, and coalmine probe --offline asks no registry.\n\n" +
			"Whoever makes the archive decides what is probed: carry it like the packages themselves.",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case load != "" && (out != "" || len(args)+len(images) > 0):
				return usage("coalmine prepare --load FILE", "--load takes no targets, --image or --out")
			case load != "":
				return e.loadPrepared(cmd.Context(), load)
			case out == "" || len(args)+len(images) == 0:
				return usage("coalmine prepare --out prepared.tar npm:NAME@VERSION", "prepare needs --out FILE, and targets or images")
			}
			e.follow(f)
			defer f.progress.clear()
			return e.packPrepared(cmd.Context(), f, args, images, out)
		},
	}
	fl := cmd.Flags()
	fl.StringVar(&out, "out", "", "write the archive to this new `FILE`")
	fl.StringVar(&load, "load", "", "unpack this `FILE` of coalmine prepare on this machine")
	fl.StringArrayVar(&images, "image", nil, "also pack this `IMAGE` of the Docker Engine, such as coalmine or coalmine-services (repeatable)")
	fl.StringVar(&f.Sandbox, "sandbox", "auto", "where the sandbox's Python and Go are looked up: auto, docker or local")
	fl.BoolVarP(&f.verbose, "verbose", "v", false, "print each step")
	return cmd
}

// packPrepared fetches into a cache of its own, so that the archive holds nothing else.
func (e *env) packPrepared(ctx context.Context, f *probeFlags, args, images []string, out string) (err error) {
	cache, err := os.MkdirTemp("", "coalmine-prepare-")
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "make TMPDIR writable"}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(cache)) }()
	m := prepare.Manifest{Version: version(), Created: time.Now().UTC(), Images: images}
	for _, word := range args {
		o, err := f.target(f.Options, []string{word}, "")
		if err != nil {
			return err
		}
		if o.Package == nil {
			return usage("name a package, an image or a directory", "%s is a command: coalmine fetches nothing for it", word)
		}
		o.Cache, o.Keep = cache, true
		p, err := probe.Prepare(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", word, err)
		}
		m.Targets = append(m.Targets, prepare.Target{Name: p.Name, Digest: p.Digest, Missing: p.Missing})
		if p.Image != "" && !slices.Contains(m.Images, p.Image) {
			m.Images = append(m.Images, p.Image)
		}
	}
	return e.writePrepared(ctx, out, m, cache)
}

func (e *env) writePrepared(ctx context.Context, out string, m prepare.Manifest, cache string) (err error) {
	var saved io.Reader
	size := int64(0)
	if len(m.Images) > 0 {
		// A tar says the length of an entry before it.
		f, err := os.CreateTemp(cache, "images-")
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // its directory is removed
		if err := docker.Save(ctx, m.Images, f); err != nil {
			return err
		}
		if size, err = f.Seek(0, io.SeekCurrent); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err != nil {
			return err
		}
		saved = f
	}
	to, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a new file with --out"}
	}
	err = prepare.Write(to, m, os.DirFS(filepath.Join(cache, install.Archives)), saved, size)
	if err = errors.Join(err, to.Close()); err != nil {
		return errors.Join(err, os.Remove(out))
	}
	e.printPrepared(&m)
	fmt.Fprintln(e.out, "packed into "+report.Escape(out, 300))
	return nil
}

func (e *env) loadPrepared(ctx context.Context, name string) error {
	cache, err := install.DefaultCache()
	if err != nil {
		return plan.Mendable(err)
	}
	f, err := os.Open(name)
	if err != nil {
		return &sandbox.UsageError{Err: err, Hint: "name a file of coalmine prepare --out"}
	}
	defer f.Close()
	m, err := prepare.Read(f, filepath.Join(cache.Dir, install.Archives), func(images io.Reader) error { return docker.Load(ctx, images) })
	if errors.Is(err, prepare.ErrFormat) {
		return &sandbox.UsageError{Err: fmt.Errorf("%s: %w", name, err), Hint: "name a file of coalmine prepare --out"}
	}
	if err != nil {
		return err
	}
	e.printPrepared(m)
	for _, t := range m.Targets {
		fmt.Fprintln(e.out, "probe it with: coalmine probe --offline "+report.Escape(t.Name, 300))
	}
	return nil
}

func (e *env) printPrepared(m *prepare.Manifest) {
	for _, t := range m.Targets {
		line := t.Name
		if t.Missing != "" {
			line += " (without " + t.Missing + ")"
		}
		fmt.Fprintln(e.out, report.Escape(line, 400))
	}
	if len(m.Images) > 0 {
		fmt.Fprintln(e.out, "images: "+report.Escape(strings.Join(m.Images, ", "), 400))
	}
}
