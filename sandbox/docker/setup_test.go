//go:build linux

package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
)

func TestLayOut(t *testing.T) {
	user := agent.User{UID: 1000, GID: 1000, Home: "/home/alex"}
	cases := map[string]struct {
		workspaces []string
		server     *tree
		want       string // path, with ! for a volume
	}{
		"plain":                   {nil, nil, "/home/alex"},
		"workspaces":              {[]string{"/data", "/data/sub", "/srv/x/", "/home/alex/work"}, nil, "/home/alex /data /srv/x"},
		"never over the system":   {[]string{"/", "/etc", "/usr/share/x", "/var/lib/x", "relative", "/proc/1"}, nil, "/home/alex"},
		"workspace in the server": {[]string{"/srv/app/data", "/srv/app"}, &tree{path: "/srv/app", isDir: true}, "/home/alex /srv/app!"},
		"server in HOME":          {nil, &tree{path: "/home/alex/app", isDir: true}, "/home/alex /home/alex/app!"},
		"server below /tmp":       {nil, &tree{path: "/tmp/app", isDir: true}, "/home/alex /tmp/app!"},
		"file in HOME":            {nil, &tree{path: "/home/alex/a.py"}, "/home/alex!"},
		"file in /tmp":            {nil, &tree{path: "/tmp/a.py"}, "/tmp! /home/alex"},
		"file elsewhere":          {nil, &tree{path: "/srv/a.py"}, "/home/alex"},
		"server in a workspace":   {[]string{"/data"}, &tree{path: "/data/app", isDir: true}, "/home/alex /data /data/app!"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range layOut(sandbox.Spec{User: user, Workspaces: c.workspaces}, c.server) {
				text := p.path
				if p.volume {
					text += "!"
				}
				if !slices.Contains([]string{"/tmp", "/var/tmp", "/run/lock"}, text) {
					got = append(got, text)
				}
				if p.size <= 0 {
					t.Errorf("%s has no bound", p.path)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

// Podman refuses the owner of a file system in memory among its options: the agent gives
// each place to the target that the target owns.
func TestPlacesNameNoOwner(t *testing.T) {
	spec := sandbox.Spec{User: agent.User{UID: 1000, GID: 1000, Home: "/home/alex"}, Workspaces: []string{"/data"}}
	p := &setup{spec: spec, places: layOut(spec, &tree{path: "/srv/app", isDir: true})}
	for _, w := range p.places {
		if o := w.options(); strings.Contains(o, "uid=") || strings.Contains(o, "gid=") {
			t.Errorf("%s: %s", w.path, o)
		}
	}
	var owned []string
	for _, f := range p.owned() {
		if !f.Dir || f.Mode != 0o755 {
			t.Errorf("%+v", f)
		}
		owned = append(owned, f.Path)
	}
	if want := []string{"/home/alex", "/data", "/srv/app"}; !slices.Equal(owned, want) {
		t.Errorf("%q become the target's, want %q", owned, want)
	}
}

func TestAddPath(t *testing.T) {
	env := []string{"A=1", "PATH=/usr/bin:/bin"}
	got := addPath(env, []string{"X=y", "PATH=/opt/venv/bin:/bin:relative:/usr/bin:/go/bin"})
	if want := []string{"A=1", "PATH=/usr/bin:/bin:/opt/venv/bin:/go/bin"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if env[1] != "PATH=/usr/bin:/bin" {
		t.Error("the caller's environment was changed")
	}
	if got := addPath([]string{"A=1"}, []string{"PATH=/x"}); !slices.Equal(got, []string{"A=1"}) {
		t.Errorf("got %v", got)
	}
}

func TestCheckAgent(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := openAgent(text, &image{})
	wantUsage(t, err, "is not a Linux program", "Linux build")
	if sh, err := exec.LookPath("sh"); err == nil {
		_, err := openAgent(sh, &image{})
		wantUsage(t, err, "not statically linked", "CGO_ENABLED=0")
		_, err = openAgent(sh, &image{name: "other", arch: "s390x"})
		wantUsage(t, err, "the image other is for s390x", "this machine's processor")
	}
}

func TestOwner(t *testing.T) {
	me := self()
	if me.start == "" || me.boot == "" {
		t.Skipf("this system does not say when a process began: %+v", me)
	}
	if got := ownerOf(labels("run", "name")); got != me {
		t.Errorf("got %+v, want %+v", got, me)
	}
	change := func(f func(*owner)) owner {
		o := me
		f(&o)
		return o
	}
	for name, c := range map[string]struct {
		o    owner
		want sandbox.Tri
	}{
		"me":                    {me, sandbox.Yes},
		"init":                  {change(func(o *owner) { o.pid, o.start = 1, startTime(1) }), sandbox.Yes},
		"a pid used again":      {change(func(o *owner) { o.start = "1" }), sandbox.No},
		"gone":                  {change(func(o *owner) { o.pid = 1 << 30 }), sandbox.No},
		"before the last boot":  {change(func(o *owner) { o.boot = "other" }), sandbox.No},
		"another machine":       {change(func(o *owner) { o.boot, o.host = "other", "other" }), sandbox.Unknown},
		"another pid namespace": {change(func(o *owner) { o.space = "pid:[1]" }), sandbox.Unknown},
		"nobody":                {owner{}, sandbox.Unknown},
	} {
		if got := c.o.lives(); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTail(t *testing.T) {
	var d sandbox.Tail
	for range 3 {
		_, _ = d.Write([]byte(strings.Repeat("x", sandbox.MaxTail/2)))
	}
	d.Note("the end")
	if got := d.String(); len(got) != sandbox.MaxTail || !strings.HasSuffix(got, "xthe end\n") {
		t.Errorf("%d bytes, ends in %q", len(got), got[len(got)-10:])
	}
}

func TestCurrentContext(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("DOCKER_CONFIG", dir)
	t.Setenv("DOCKER_HOST", "")
	t.Setenv("DOCKER_CONTEXT", "")
	if got := currentContext(); got != "" {
		t.Errorf("without a configuration: %q", got)
	}
	const name = "other" // sha256 of it is the directory's name
	put(t, dir, map[string]string{
		"config.json": `{"currentContext":"` + name + `"}`,
		"contexts/meta/d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa/meta.json": `{"Name":"other","Endpoints":{"docker":{"Host":"unix:///run/other.sock"}}}`,
	})
	if got := currentContext(); got != "unix:///run/other.sock" {
		t.Errorf("got %q", got)
	}
	t.Setenv("DOCKER_CONTEXT", "default")
	if got := currentContext(); got != "" {
		t.Errorf("the default context: %q", got)
	}
	t.Setenv("DOCKER_CONTEXT", "")
	t.Setenv("DOCKER_HOST", "tcp://h:1")
	if got := currentContext(); got != "" {
		t.Errorf("DOCKER_HOST wins, not %q", got)
	}
}
