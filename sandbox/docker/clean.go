package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// Clean removes the containers and volumes of runs whose process no longer
// lives, and with force those of all runs, other machines' included. It returns
// the names of what it removed. Where no engine answers there is nothing to do
// that it could do: that is a *sandbox.UsageError.
func Clean(ctx context.Context, force bool) ([]string, error) {
	cli, err := connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = cli.Close() }()
	abandoned := func(labels map[string]string) bool {
		return labels[labelName] != "" && (force || ownerOf(labels).lives() == sandbox.No)
	}
	ours := make(client.Filters).Add("label", labelName)
	list, err := cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: ours})
	if err != nil {
		return nil, explain(err, "list the containers")
	}
	var removed []string
	var errs []error
	for _, s := range list.Items {
		if !abandoned(s.Labels) {
			continue
		}
		if err := remove(ctx, cli, s.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, fmt.Sprintf("container %.12s", s.ID))
	}
	// A volume is left where someone removed a container without it, or is about to remove both.
	volumes, err := cli.VolumeList(ctx, client.VolumeListOptions{Filters: ours})
	if err != nil {
		return removed, errors.Join(append(errs, explain(err, "list the volumes"))...)
	}
	for _, v := range volumes.Items {
		if !abandoned(v.Labels) {
			continue
		}
		if err := removeVolume(ctx, cli, v.Name); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, fmt.Sprintf("volume %.12s", v.Name))
	}
	return removed, errors.Join(errs...)
}
