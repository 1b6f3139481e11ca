//go:build linux && e2e

package probe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// A client of registries is an ordinary user without the user's HOME, environment,
// files and network.
func TestAClientSeesNothingOfTheUser(t *testing.T) {
	sandboxtest.Need(t, "userns")
	slots.AcquireOnce(t, sandboxtest.Light)
	c := newClients(t)
	home := t.TempDir()
	for name, text := range map[string]string{".npmrc": "//h.example/:_authToken=of-the-user\n", "marker": "of-the-user"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("HOME", home)
	t.Setenv("COALMINE_TEST_MARKER", "of-the-user")
	t.Setenv("npm_config_userconfig", filepath.Join(home, ".npmrc"))
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var out bytes.Buffer
	res, err := c.run(t.Context(), install.Job{
		Tool: registry.NPM, Programs: []string{"sh"}, Files: map[string][]byte{"package.json": []byte("{}")},
		Script: `id -u; env; cat /home/user/.registries/* ` + home + `/marker "$HOME/.npmrc"; ls -a . "$HOME" /root; bash -c 'echo hello >/dev/tcp/127.0.0.1/` + port + `' && echo reached; bash -c 'echo >/dev/tcp/127.0.0.1/3128' && echo proxy; ls /sys/class/net; touch /usr/x && echo wrote`,
	}, &out)
	if err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if strings.Contains(text, "of-the-user") || strings.Contains(text, home) || strings.Contains(text, "reached") || strings.Contains(text, "wrote") {
		t.Errorf("a client saw the user's: %s", text)
	}
	if !strings.HasPrefix(text, "1000\n") || !strings.Contains(text, "proxy\n") {
		t.Errorf("it is no ordinary user with a proxy: %s %s", text, res.Stderr)
	}
	if _, err := os.Stat("/usr/x"); err == nil {
		t.Error("/usr was written to")
	}
}

// newClients links the program, for which the HOME has to be the one with Go's cache.
func newClients(t *testing.T) *clients {
	t.Helper()
	o := plan.Options{}
	o.Fill()
	o.Progress, o.AgentPath = func(string) {}, sandboxtest.Build(t, "./cmd/coalmine")
	return servedBy(t, &clients{opts: &o})
}

// servedBy has clients whose runs are made in a directory of the test's.
func servedBy(t *testing.T, c *clients) *clients {
	t.Helper()
	c.helpers, c.trees = &helpers{}, install.Cache{Dir: t.TempDir()}
	t.Cleanup(func() { _ = c.helpers.remove() })
	return c
}

// npmRegistry serves the package "small" to who has the user's token.
func npmRegistry(t *testing.T) string {
	t.Helper()
	var archive bytes.Buffer
	z := gzip.NewWriter(&archive)
	a := tar.NewWriter(z)
	manifest := `{"name":"small","version":"1.0.0","bin":"i.js"}`
	var err error
	for name, text := range map[string]string{"package/package.json": manifest, "package/i.js": "1"} {
		header := a.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(text)), Mode: 0o644})
		_, body := a.Write([]byte(text))
		err = errors.Join(err, header, body)
	}
	if err := errors.Join(err, a.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	sum := sha512.Sum512(archive.Bytes())
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer of-the-user":
			w.WriteHeader(http.StatusUnauthorized)
		case r.URL.Path == "/small":
			fmt.Fprintf(w, `{"name":"small","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"small","version":"1.0.0","bin":"i.js","dist":{"tarball":"%s/small/-/small-1.0.0.tgz","integrity":"sha512-%s"}}}}`, server.URL, base64.StdEncoding.EncodeToString(sum[:]))
		case r.URL.Path == "/small/-/small-1.0.0.tgz":
			_, _ = w.Write(archive.Bytes())
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// A package is fetched in namespaces, and in a container where there are none; the
// user's token is used and does not arrive.
func TestAPackageIsFetchedInEachSandbox(t *testing.T) {
	sandboxtest.Need(t, "userns", "docker", "npm")
	slots.AcquireOnce(t, sandboxtest.Light)
	address, c := npmRegistry(t), newClients(t)
	home := t.TempDir()
	rc := "registry=" + address + "\n" + strings.TrimPrefix(address, "http:") + "/:_authToken=of-the-user\n"
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte(rc), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	for name, refused := range map[string]error{"namespaces": nil, "container": &sandbox.UsageError{Err: errors.New("no namespaces"), Hint: "none"}} {
		t.Run(name, func(t *testing.T) {
			c := servedBy(t, &clients{opts: c.opts, refused: refused})
			f := &install.Fetcher{Cache: install.Cache{Dir: t.TempDir()}, Sandbox: c.run}
			tree, err := f.NPM(t.Context(), install.Spec{Kind: install.KindNPM, Name: "small"})
			if err != nil {
				t.Fatal(err)
			}
			if data, err := os.ReadFile(filepath.Join(tree.Host, "node_modules/small/i.js")); err != nil || string(data) != "1" {
				t.Errorf("%q %v", data, err)
			}
			if lock, err := os.ReadFile(filepath.Join(tree.Host, "package-lock.json")); err != nil || bytes.Contains(lock, []byte("of-the-user")) {
				t.Errorf("the lock: %v %s", err, lock)
			}
		})
	}
}

// A program of the working directory, which a relative PATH finds, is not started.
func TestNoProgramOfTheWorkingDirectoryIsTaken(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "npm"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", ".:"+os.Getenv("PATH"))
	var usage *sandbox.UsageError
	if found, err := anyProgram([]string{"npm", "node"}); found || !errors.As(err, &usage) {
		t.Errorf("%v %v", found, err)
	}
}
