package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Save writes images, with all their layers, as the engine exports them. Images that are not here are an error.
func Save(ctx context.Context, names []string, to io.Writer) error {
	cli, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = cli.Close() }()
	for _, name := range names {
		if _, err := findImage(ctx, cli, name); err != nil {
			return err
		}
	}
	r, err := cli.ImageSave(ctx, names)
	if err != nil {
		return explain(err, "export images")
	}
	_, err = io.Copy(to, r)
	if err = errors.Join(err, r.Close()); err != nil {
		return fmt.Errorf("export images: %w", err)
	}
	return nil
}

// Load gives the engine images that Save wrote.
func Load(ctx context.Context, from io.Reader) error {
	cli, err := connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = cli.Close() }()
	r, err := cli.ImageLoad(ctx, from)
	if err != nil {
		return explain(err, "import images")
	}
	// What the engine says of its progress is not shown.
	_, err = io.Copy(io.Discard, r)
	return errors.Join(err, r.Close())
}
