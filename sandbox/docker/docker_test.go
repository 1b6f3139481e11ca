package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

const (
	debian = "debian:bookworm-slim"
	musl   = "coalmine-test/musl"
)

// engine returns a client for the test's own looks at the engine, and proves at the
// test's end that nothing of the run is left.
func engine(t testing.TB, run string) *client.Client {
	t.Helper()
	sandboxtest.Need(t, "docker")
	cli, err := connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		defer func() { _ = cli.Close() }()
		ctx, cancel := context.WithTimeout(context.Background(), removeTimeout)
		defer cancel()
		filter := make(client.Filters).Add("label", labelRun+"="+run)
		list, err := cli.ContainerList(ctx, client.ContainerListOptions{All: true, Filters: filter})
		if err != nil {
			t.Errorf("list the containers: %v", err)
		}
		for _, c := range list.Items {
			t.Errorf("container %.12s (%s) is left", c.ID, c.State)
			if err := remove(ctx, cli, c.ID); err != nil {
				t.Error(err)
			}
		}
		volumes, err := cli.VolumeList(ctx, client.VolumeListOptions{Filters: filter})
		if err != nil {
			t.Errorf("list the volumes: %v", err)
		}
		for _, v := range volumes.Items {
			t.Errorf("volume %s is left", v.Name)
			_, _ = cli.VolumeRemove(ctx, v.Name, client.VolumeRemoveOptions{})
		}
	})
	return cli
}

// specFor runs a command as an ordinary user in an image that setup made.
func specFor(t testing.TB, image string, command ...string) (sandbox.Spec, *client.Client) {
	t.Helper()
	id := make([]byte, 6)
	_, _ = rand.Read(id)
	spec := sandbox.Spec{
		Command: command, Dir: "/", Image: image, Hostname: "workstation",
		Env:   []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/alex"},
		User:  agent.User{Name: "alex", UID: 1000, GID: 1000, Home: "/home/alex"},
		RunID: hex.EncodeToString(id),
		Limits: agent.Limits{
			Memory: 512 << 20, Pids: 200, CPU: time.Minute, Output: 8 << 20, File: 64 << 20, Disk: 64 << 20, Wall: time.Minute,
		},
	}
	cli := engine(t, spec.RunID)
	if _, err := cli.ImageInspect(t.Context(), image); err != nil {
		t.Skipf("image %s is not here: run .ci/setup/images.sh", image)
	}
	return spec, cli
}

// outcome runs a Spec to its end.
func outcome(t testing.TB, spec sandbox.Spec) (*sandboxtest.Recorder, sandbox.Exit) {
	t.Helper()
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(t.Context(), New(""), spec, rec)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := run.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	exit, err := run.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return rec, exit
}

func TestRunsACommand(t *testing.T) {
	for _, image := range []string{debian, musl} {
		t.Run(image, func(t *testing.T) {
			spec, _ := specFor(t, image, "sh", "-c", "id; pwd; hostname; env; mount; ls -la / /tmp /home; cat /proc/self/status | grep -i -e cap -e newpriv -e secc; ls -la /proc/self/fd; exit 7")
			rec, exit := outcome(t, spec)
			t.Log(rec.Out(), rec.Err(), exit)
		})
	}
}
