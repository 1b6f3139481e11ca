//go:build e2e

package registry_test

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/registry"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

// client is a tool that reaches its registries through a proxy alone: its environment
// holds nothing of this process's but PATH.
type client struct {
	proxy *registry.Proxy
	env   []string
	dir   string
}

func newClient(t *testing.T, tool registry.Tool, cache string) *client {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	settings, err := registry.Load(registry.Source{Env: os.Environ(), Home: home})
	if err != nil {
		t.Fatal(err)
	}
	p, err := registry.NewProxy(settings, registry.Options{Tools: []registry.Tool{tool}, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	c := &client{proxy: p, dir: t.TempDir()}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	configuration := p.Client(tool, l.Addr().String(), c.dir)
	for _, f := range configuration.Files {
		if err := os.WriteFile(f.Path, f.Data, f.Mode); err != nil {
			t.Fatal(err)
		}
	}
	c.env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir}, configuration.Env...)
	return c
}

// run runs a program in the client's directory.
func (c *client) run(t *testing.T, program string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%+v", program, strings.Join(args, " "), err, out, c.proxy.Report())
	}
}

// fetched checks that something came through the proxy and nothing was refused.
func (c *client) fetched(t *testing.T) registry.Report {
	t.Helper()
	r := c.proxy.Report()
	if r.Requests == 0 || len(r.Refused) > 0 {
		t.Errorf("report %+v", r)
	}
	t.Logf("%d requests, %d from the cache, %d bytes", r.Requests, r.Cached, r.Bytes)
	return r
}

// Real clients fetch from the real registries, at first and again with what the cache has.
func TestRealClients(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool  registry.Tool
		fetch func(*testing.T, *client)
		want  string
	}{
		{registry.NPM, func(t *testing.T, c *client) {
			name := "@modelcontextprotocol/server-memory"
			if !scale.Deep() {
				name = "zod" // one package instead of a hundred
			}
			c.run(t, "npm", "install", "--ignore-scripts", "--prefix="+c.dir, name)
		}, "node_modules/zod/package.json"},
		{registry.Pip, func(t *testing.T, c *client) {
			args := []string{"-m", "pip", "download", "--only-binary", ":all:", "--dest", "wheels", "mcp-server-time"}
			if !scale.Deep() {
				args = append(args, "--no-deps")
			}
			c.run(t, "python3", args...)
		}, "wheels/mcp_server_time-*.whl"},
		{registry.Go, func(t *testing.T, c *client) {
			c.run(t, "go", "mod", "init", "example.com/m")
			c.env = append(c.env, "GOPATH="+filepath.Join(c.dir, "go"), "GOMODCACHE="+filepath.Join(c.dir, "mod"), "GOCACHE="+filepath.Join(c.dir, "cache"), "GOTOOLCHAIN=local")
			c.run(t, "go", "mod", "download", "-modcacherw", "-x", "rsc.io/quote@v1.5.2")
		}, "mod/rsc.io/quote@v1.5.2/quote.go"},
	} {
		t.Run(string(c.tool), func(t *testing.T) {
			t.Parallel()
			cache := filepath.Join(t.TempDir(), "cache")
			var first registry.Report
			rounds := []string{"first", "again"}
			if c.tool != registry.Go {
				rounds = scale.First(1, rounds)
			}
			for _, round := range rounds {
				t.Run(round, func(t *testing.T) {
					client := newClient(t, c.tool, cache)
					c.fetch(t, client)
					if found, _ := filepath.Glob(filepath.Join(client.dir, c.want)); len(found) == 0 {
						t.Errorf("there is no %s", c.want)
					}
					r := client.fetched(t)
					if round == "first" {
						first = r
					} else if r.Cached <= first.Cached || r.Bytes >= first.Bytes {
						t.Errorf("the cache was of little use: %+v, at first %+v", r, first)
					}
				})
			}
		})
	}
}
