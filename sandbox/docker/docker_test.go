//go:build linux && e2e

package docker

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
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
func specFor(t testing.TB, from string, command ...string) (sandbox.Spec, *client.Client) {
	t.Helper()
	id := make([]byte, 6)
	_, _ = rand.Read(id)
	spec := sandbox.Spec{
		Command: command, Dir: "/", Image: from, Hostname: "workstation",
		Env:   []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/alex"},
		User:  agent.User{Name: "alex", UID: 1000, GID: 1000, Home: "/home/alex"},
		RunID: hex.EncodeToString(id),
		Limits: agent.Limits{
			Memory: 512 << 20, Pids: 200, CPU: time.Minute, Output: 8 << 20, File: 64 << 20, Disk: 64 << 20, Wall: time.Minute,
		},
	}
	cli := engine(t, spec.RunID)
	spec.AgentPath = agentFor(t)
	if _, err := cli.ImageInspect(t.Context(), from); err != nil {
		if strings.Contains(","+os.Getenv("COALMINE_REQUIRE")+",", ",docker,") {
			t.Fatalf("docker is required here, but the image %s is missing: %v", from, err)
		}
		t.Skipf("the image %s is missing: .ci/setup makes it", from)
	}
	return spec, cli
}

const agentVariable = "SANDBOX_TEST_AGENT"

// agentFor is this program, or one that is static where this is not: with the race detector.
func agentFor(t testing.TB) string {
	t.Helper()
	if given, ok := os.LookupEnv(agentVariable); ok {
		return given
	}
	f, err := openAgent("", new(image))
	if err != nil {
		return sandboxtest.Build(t, "./cmd/coalmine")
	}
	_ = f.Close()
	return ""
}

func TestCoalmineIsAnAgent(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	f, err := openAgent(sandboxtest.Build(t, "./cmd/coalmine"), &image{arch: "unheard-of"})
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
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
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	for _, image := range []string{debian, musl} {
		t.Run(image, func(t *testing.T) {
			const script = `pwd; hostname; id -u; id -g; env | grep -v -e ^PWD= -e ^SHLVL= -e ^_= | sort
				grep -e ^Cap -e ^NoNewPrivs /proc/self/status | tr -d "\t" | sort
				cat; echo oops >&2; exit 7`
			spec, _ := specFor(t, image, "sh", "-c", script)
			rec := sandboxtest.NewRecorder()
			run, err := sandbox.Start(t.Context(), New(""), spec, rec)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = run.Close(context.Background()) }()
			if err := errors.Join(run.Stdin([]byte("from stdin\n")), run.CloseStdin()); err != nil {
				t.Fatal(err)
			}
			exit, err := run.Wait(t.Context())
			if err != nil || exit.Code != 7 || exit.Reason != "" {
				t.Errorf("exit %+v, %v", exit, err)
			}
			want := "/\nworkstation\n1000\n1000\nHOME=/home/alex\nPATH=/usr/local/bin:/usr/bin:/bin\n" +
				"CapAmb:0000000000000000\nCapBnd:0000000000000000\nCapEff:0000000000000000\nCapInh:0000000000000000\nCapPrm:0000000000000000\n" +
				"NoNewPrivs:1\nfrom stdin\n"
			if rec.Out() != want || rec.Err() != "oops\n" {
				t.Errorf("got\n%s\nwant\n%s\nstderr %q", rec.Out(), want, rec.Err())
			}
		})
	}
}

// The tracer is the host's own, and works in an image with another libc.
func TestTraces(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "strace")
	for _, image := range []string{debian, musl} {
		t.Run(image, func(t *testing.T) {
			spec, _ := specFor(t, image, "sh", "-c", "cat /etc/passwd; cat /etc/none; (echo x >/tmp/child)")
			spec.TraceSet = "core"
			rec, exit := outcome(t, spec)
			if exit.TracerDied || exit.Reason != "" || len(rec.TraceErrors()) > 0 || len(sandboxtest.EventsOf[session.EventLoss](rec)) > 0 {
				t.Fatalf("exit %+v, errors %v, lost %v", exit, rec.TraceErrors(), sandboxtest.EventsOf[session.EventLoss](rec))
			}
			opened := map[string]string{}
			for _, r := range rec.Records() {
				if r.Op == trace.OpOpen {
					opened[r.Path] = r.Err
				}
			}
			for path, errno := range map[string]string{"/etc/passwd": "", "/etc/none": "ENOENT", "/tmp/child": ""} {
				if got, ok := opened[path]; !ok || got != errno {
					t.Errorf("%s: %q, %v", path, got, ok)
				}
			}
		})
	}
}

func TestCommandMissing(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	for command, want := range map[string][2]string{
		"no-such-program":  {"command not found: no-such-program: the image " + debian + " lacks it", "--image"},
		"/usr/bin/no-such": {"command not found: /usr/bin/no-such", "--image"},
		"/tmp/no-such":     {"command not found: /tmp/no-such", ""}, // the agent's own answer
		"/etc/passwd":      {"permission denied: /etc/passwd", "chmod"},
	} {
		spec, _ := specFor(t, debian, command)
		_, err := sandbox.Start(t.Context(), New(""), spec, sandboxtest.NewRecorder())
		wantUsage(t, err, want[0], want[1])
	}
}

// No goroutine outlives a run.
func TestNoGoroutineIsLeft(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "true")
	outcome(t, spec)
	before := runtime.NumGoroutine()
	for range 3 {
		outcome(t, spec)
	}
	for deadline := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, then %d\n%s", before, runtime.NumGoroutine(), stacks[:runtime.Stack(stacks, true)])
		}
	}
}
