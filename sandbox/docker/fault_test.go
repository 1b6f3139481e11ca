//go:build linux && e2e

package docker

import (
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

const helperVariable = "SANDBOX_TEST_HELPER"

// helper runs a test of this program in a process of its own.
func helper(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestHelper$", "-test.v")
	cmd.Env = append(os.Environ(), helperVariable+"="+name)
	cmd.Dir = "/"
	return cmd
}

// TestHelper is what the helper processes run.
func TestHelper(t *testing.T) {
	switch os.Getenv(helperVariable) {
	case "denied":
		_, err := New("").Start(t.Context(), sandbox.Spec{Command: []string{"true"}})
		wantUsage(t, err, "permission denied", "group docker")
		if s := New("").Supported(t.Context()); s.OK != sandbox.No || !strings.Contains(s.Hint, "sudo") {
			t.Errorf("Supported: %+v", s)
		}
	case "hold":
		spec, _ := specFor(t, debian, "sleep", "60")
		spec.RunID = os.Getenv("SANDBOX_TEST_RUN")
		if _, err := sandbox.Start(t.Context(), New(""), spec, sandboxtest.NewRecorder()); err != nil {
			t.Fatal(err)
		}
		println("holding")
		<-time.After(time.Minute)
	default:
		t.Skip("the other tests start it")
	}
}

func TestPermissionDenied(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker", "root")
	cmd := helper(t, "denied")
	// Where this program lies only its builder may enter.
	program, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "denied")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	cmd.Path = filepath.Join(dir, "test")
	if err := errors.Join(os.Chmod(dir, 0o755), os.WriteFile(cmd.Path, program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestImageMissing(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "true")
	spec.Image = "coalmine-test/no-such-image:ever"
	_, err := New("").Start(t.Context(), spec)
	wantUsage(t, err, "coalmine-test/no-such-image:ever is not here", "docker pull")
	spec.Image = "No Image's Name"
	_, err = New("").Start(t.Context(), spec)
	wantUsage(t, err, "No Image's Name", "")
	if s := New("coalmine-test/no-such-image:ever").Supported(t.Context()); s.OK != sandbox.No || s.Hint == "" {
		t.Errorf("Supported: %+v", s)
	}
}

// Wherever a start is interrupted or fails, nothing of it is left: the look at the
// engine is engine's, which specFor registers.
func TestStartInterrupted(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	for _, step := range []string{stepInspect, stepCreate, stepCopy, stepAttach, stepWait, stepStart} {
		t.Run("cancelled/"+step, func(t *testing.T) {
			spec, _ := specFor(t, debian, "sleep", "60")
			p := newProxy(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.intercept(func(_ http.ResponseWriter, s string) bool {
				if s == step {
					cancel()
				}
				return false
			})
			if c, err := New("").Start(ctx, spec); err == nil {
				_ = c.Close(ctx)
				t.Error("no error")
			}
		})
		t.Run("failed/"+step, func(t *testing.T) {
			spec, _ := specFor(t, debian, "sleep", "60")
			p := newProxy(t)
			p.intercept(func(w http.ResponseWriter, s string) bool {
				if s != step {
					return false
				}
				http.Error(w, `{"message":"the disk is full"}`, http.StatusInternalServerError)
				return true
			})
			c, err := New("").Start(t.Context(), spec)
			if step == stepWait { // an end that the engine does not tell is no reason not to begin
				if err == nil {
					err = c.Close(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil {
				_ = c.Close(t.Context())
				t.Fatal("no error")
			}
			if step != stepAttach && !strings.Contains(err.Error(), "the disk is full") {
				t.Error(err)
			}
		})
	}
}

// A request whose answer is lost may have made a container all the same.
func TestCreateAnswerLost(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sleep", "60")
	p := newProxy(t)
	p.drop = stepCreate
	if _, err := New("").Start(t.Context(), spec); err == nil {
		t.Error("no error")
	}
}

// Two sandboxes of one run do not get into each other's way.
func TestTwoOfOneRun(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sleep", "60")
	for range 2 {
		c, err := New("").Start(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}()
	}
}

// A kernel that was started without IPv6 has no such setting, and needs none.
func TestNoIPv6(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sleep", "60")
	p := newProxy(t)
	starts := 0
	p.intercept(func(w http.ResponseWriter, s string) bool {
		if s != stepStart {
			return false
		}
		starts++
		if starts > 1 {
			return false
		}
		http.Error(w, `{"message":"OCI runtime create failed: write sysctl key net.ipv6.conf.all.disable_ipv6: no such file or directory"}`, http.StatusBadRequest)
		return true
	})
	c, err := New("").Start(t.Context(), spec)
	if err != nil || starts != 2 {
		t.Fatalf("%d starts, %v", starts, err)
	}
	if err := c.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRuntimeMissing(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "true")
	spec.Runtime = "no-such-runtime"
	_, err := New("").Start(t.Context(), spec)
	wantUsage(t, err, "no-such-runtime", "daemon.json")
}

func TestContainerKilled(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, cli := specFor(t, debian, "sleep", "60")
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(t.Context(), New(""), spec, rec)
	if err != nil {
		t.Fatal(err)
	}
	list, err := cli.ContainerList(t.Context(), client.ContainerListOptions{Filters: make(client.Filters).Add("label", labelRun+"="+spec.RunID)})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("%d containers, %v", len(list.Items), err)
	}
	if _, err := cli.ContainerKill(t.Context(), list.Items[0].ID, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
		t.Fatal(err)
	}
	exit, err := run.Wait(t.Context())
	if err != nil || !strings.Contains(exit.Reason, "status 137") {
		t.Errorf("exit %+v, %v", exit, err)
	}
	if err := run.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestEngineDies(t *testing.T) {
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sleep", "60")
	p := newProxy(t)
	c, err := New("").Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	p.die()
	if n, err := c.Read(make([]byte, 1)); err == nil {
		t.Errorf("read %d bytes from nobody", n)
	}
	err = c.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), "coalmine clean") {
		t.Errorf("Close with no engine: %v", err)
	}
	p.revive(t)
	if err := c.Close(t.Context()); err != nil {
		t.Errorf("Close with an engine again: %v", err)
	}
}

// Close works from many goroutines, repeatedly, and after the context's end.
func TestCloseIsIdempotent(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	spec, _ := specFor(t, debian, "sleep", "60")
	ctx, cancel := context.WithCancel(t.Context())
	c, err := New("").Start(ctx, spec)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	var failed atomic.Int32
	done := make(chan struct{})
	for range 4 {
		go func() {
			if err := c.Close(ctx); err != nil {
				failed.Add(1)
			}
			done <- struct{}{}
		}()
	}
	for range 4 {
		<-done
	}
	if failed.Load() > 0 || c.Close(ctx) != nil {
		t.Error("Close failed")
	}
}

// What a killed process left is removed; what a living one has is not.
func TestClean(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	mine, cli := specFor(t, debian, "sleep", "60")
	living, err := New("").Start(t.Context(), mine)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = living.Close(context.Background()) }()

	dead, _ := specFor(t, debian, "true")
	cmd := helper(t, "hold")
	cmd.Env = append(cmd.Env, "SANDBOX_TEST_RUN="+dead.RunID, agentVariable+"="+dead.AgentPath)
	said, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 7)
	_, err = said.Read(buf)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err != nil || string(buf) != "holding" {
		t.Fatalf("the helper said %q, %v", buf, err)
	}
	left := func(run string) []string {
		list, err := cli.ContainerList(t.Context(), client.ContainerListOptions{All: true, Filters: make(client.Filters).Add("label", labelRun+"="+run)})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, c := range list.Items {
			ids = append(ids, "container "+c.ID[:12])
		}
		return ids
	}
	before := left(dead.RunID)
	if len(before) != 1 {
		t.Fatalf("the killed process left %v", before)
	}
	removed, err := Clean(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.Join(removed, "\n"), before[0]) {
		t.Errorf("removed %v, not %s", removed, before[0])
	}
	if now := left(dead.RunID); len(now) != 0 {
		t.Errorf("%v is left", now)
	}
	if now := left(mine.RunID); len(now) != 1 {
		t.Errorf("the living run has %v", now)
	}
}
