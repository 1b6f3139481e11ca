//go:build linux

package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// wantUsage fails unless an error is one that the user can mend.
func wantUsage(t *testing.T, err error, reason, hint string) {
	t.Helper()
	var usage *sandbox.UsageError
	if !errors.As(err, &usage) {
		t.Fatalf("not a usage error: %v", err)
	}
	if !strings.Contains(usage.Error(), reason) || !strings.Contains(usage.Hint, hint) {
		t.Errorf("got %q with the hint %q, want %q and %q", usage, usage.Hint, reason, hint)
	}
}

func TestNoEngine(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "none.sock")
	dead := filepath.Join(t.TempDir(), "dead.sock")
	l, err := net.Listen("unix", dead)
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	_ = l.Close()
	for _, host := range []string{"unix://" + absent, "unix://" + dead, "tcp://127.0.0.1:1"} {
		t.Run(host, func(t *testing.T) {
			t.Setenv(client.EnvOverrideHost, host)
			_, err := New("").Start(t.Context(), sandbox.Spec{Command: []string{"true"}})
			wantUsage(t, err, "docker", "--sandbox local")
			if s := New("").Supported(t.Context()); s.OK != sandbox.No || s.Hint == "" {
				t.Errorf("Supported: %+v", s)
			}
			_, err = Clean(t.Context(), false)
			wantUsage(t, err, "docker", "start Docker")
		})
	}
	t.Run("nonsense", func(t *testing.T) {
		t.Setenv(client.EnvOverrideHost, "what is this")
		_, err := New("").Start(t.Context(), sandbox.Spec{Command: []string{"true"}})
		wantUsage(t, err, "docker", "DOCKER_HOST")
	})
}

// An engine that takes connections and says nothing is not known to be there.
func TestSilentEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "silent.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	t.Setenv(client.EnvOverrideHost, "unix://"+path)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if s := New("").Supported(ctx); s.OK != sandbox.Unknown {
		t.Errorf("Supported: %+v", s)
	}
}

// Two commands may clean at the same time: what the other one removes is no error.
func TestCleanBesideAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string]int{}
	engine := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, what, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		w.Header().Set("Content-Type", "application/json")
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.Method == http.MethodDelete:
			if asked[what]++; asked[what] == 1 {
				w.WriteHeader(http.StatusConflict)
			} else {
				w.WriteHeader(http.StatusNotFound)
			}
			fmt.Fprint(w, `{"message": "the other one was first"}`)
		case what == "containers/json":
			fmt.Fprintf(w, `[{"Id": "c", "Labels": {%q: "run"}}]`, labelName)
		case what == "volumes":
			fmt.Fprintf(w, `{"Volumes": [{"Name": "v", "Labels": {%q: "run"}}]}`, labelName)
		default:
			w.Header().Set("API-Version", client.MaxAPIVersion)
			fmt.Fprint(w, `{}`)
		}
	}))
	engine.Listener = l
	engine.Start()
	t.Cleanup(engine.Close)
	t.Setenv(client.EnvOverrideHost, "unix://"+path)
	removed, err := Clean(t.Context(), true)
	mu.Lock()
	defer mu.Unlock()
	if err != nil || len(removed) != 2 || asked["containers/c"] != 2 || asked["volumes/v"] != 2 {
		t.Errorf("removed %q after %v: %v", removed, asked, err)
	}
}
