package docker

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// Image is what an image says of how it is to be run.
type Image struct {
	// Digest is its registry's, or its own where no registry has it.
	Digest string
	// Entrypoint and Cmd are the command and its default arguments.
	Entrypoint, Cmd []string
	// Env are "NAME=VALUE"; Dir is where the command starts, "" for the root.
	Env []string
	Dir string
	// Volumes are directories that the image wants to write to.
	Volumes []string
}

// Pull asks the engine for an image, and has the user's docker fetch it where it is
// not there: that one knows the registries' credentials.
func Pull(ctx context.Context, name string, progress func(string)) (*Image, error) {
	img, err := Inspect(ctx, name)
	if missing := (missingImage{}); !errors.As(err, &missing) || name == DefaultImage {
		return img, err
	}
	program, lookErr := shown.Program("docker")
	if lookErr != nil {
		return nil, err
	}
	progress("pulling " + name)
	cmd := exec.CommandContext(ctx, program, "pull", "--quiet", "--", name)
	if pullErr := cmd.Run(); pullErr != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &sandbox.UsageError{Err: fmt.Errorf("the image %s is not here, and cannot be pulled: %w", name, pullErr), Hint: "docker pull " + name + " says why; a private registry needs docker login"}
	}
	return Inspect(ctx, name)
}

// Inspect asks the engine how an image is to be run.
func Inspect(ctx context.Context, name string) (*Image, error) {
	cli, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = cli.Close() }()
	if _, err := findImage(ctx, cli, name); err != nil {
		return nil, err
	}
	r, err := cli.ImageInspect(ctx, name)
	if err != nil {
		return nil, explain(err, "inspect the image "+name)
	}
	img := &Image{Digest: r.ID}
	for _, d := range r.RepoDigests {
		if _, digest, ok := strings.Cut(d, "@"); ok {
			img.Digest = digest
		}
	}
	if c := r.Config; c != nil {
		img.Entrypoint, img.Cmd, img.Env, img.Dir = c.Entrypoint, c.Cmd, c.Env, c.WorkingDir
		for v := range c.Volumes {
			img.Volumes = append(img.Volumes, v)
		}
		slices.Sort(img.Volumes)
	}
	return img, nil
}
