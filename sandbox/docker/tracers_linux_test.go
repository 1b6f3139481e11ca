//go:build linux && e2e

package docker

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/rootfs"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tracetest"
)

// fixture compiles one of tracetest's programs.
func fixture(t *testing.T, source string, flags ...string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(source), ".c"))
	if !filepath.IsAbs(source) {
		source = filepath.Join(sandboxtest.ModuleRoot(t), "sandbox", "trace", "tracetest", "testdata", source)
	}
	if out, err := exec.Command("gcc", append([]string{"-O1", "-w", "-o", bin, source}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("compile: %v\n%s", err, out)
	}
	return bin
}

// watch runs a program of an image to its end and returns what was seen.
func watch(t *testing.T, tracer, image string, command ...string) []trace.Record {
	t.Helper()
	spec, _ := specFor(t, image, command...)
	spec.Tracer, spec.TraceSet = tracer, "core"
	spec.Files = []rootfs.File{{Path: spec.User.Home + "/.ssh/id_rsa", Mode: 0o600, Data: []byte("Secret\n")}}
	rec := sandboxtest.NewRecorder()
	run, err := sandbox.Start(t.Context(), New(""), spec, rec)
	if err != nil {
		t.Fatalf("%s: %v", tracer, err)
	}
	if _, err := run.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	if err := run.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if run.Lost() > 0 {
		t.Errorf("%s: lost %d: %v", tracer, run.Lost(), rec.TraceErrors())
	}
	var out []trace.Record
	for _, r := range rec.Records() {
		out = append(out, *r)
	}
	return out
}

// Both tracers work in images that have neither, nor a shell, nor a library, and
// see the same in them.
func TestTracersInEveryImage(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker", "strace", "gcc")
	_, cli := Engine(t.Context())
	defer func() { _ = cli.Close() }()
	static, err := os.ReadFile(fixture(t, "families.c", "-static", "-pthread"))
	if err != nil {
		t.Fatal(err)
	}
	dynamic, err := os.ReadFile(fixture(t, "families.c", "-pthread"))
	if err != nil {
		t.Fatal(err)
	}
	libs := map[string][]byte{"app": dynamic, "passwd": []byte("root:x:0:0::/:/x\n")}
	for name, path := range map[string]string{"libc": "/lib/x86_64-linux-gnu/libc.so.6", "ld": "/lib64/ld-linux-x86-64.so.2"} {
		if libs[name], err = os.ReadFile(path); err != nil {
			t.Skip("not a machine whose loader this test knows: ", err)
		}
	}
	for name, c := range map[string]struct {
		dockerfile string
		files      map[string][]byte
	}{
		"debian":     {"FROM debian:bookworm-slim\nCOPY app /app\n", map[string][]byte{"app": dynamic}},
		"musl":       {"FROM coalmine-test/musl\nCOPY app /app\n", map[string][]byte{"app": static}},
		"distroless": {"FROM scratch\nCOPY passwd /etc/passwd\nCOPY libc /lib/x86_64-linux-gnu/libc.so.6\nCOPY ld /lib64/ld-linux-x86-64.so.2\nCOPY app /app\n", libs},
		"scratch":    {"FROM scratch\nCOPY app /app\n", map[string][]byte{"app": static}},
	} {
		t.Run(name, func(t *testing.T) {
			image := buildImage(t, cli, c.dockerfile, c.files)
			one := watch(t, sandbox.TracerStrace, image, "/app", "open", "/tmp")
			if len(one) < 20 {
				t.Errorf("strace: only %d records", len(one))
			}
			sandboxtest.Need(t, "bpf")
			two := watch(t, sandbox.TracerEBPF, image, "/app", "open", "/tmp")
			common, err := tracetest.Common(two)
			if err != nil {
				t.Error(err)
			}
			if diff := tracetest.Diff(one, common, nil, nil); diff != "" {
				t.Errorf("-strace +eBPF\n%s", diff)
			}
		})
	}
}

// A library that an image puts into every program is seen in the target's, and
// never gets into the tracer.
func TestPreloadOfAnImageIsSeen(t *testing.T) {
	t.Parallel()
	sandboxtest.Acquire(t, sandboxtest.Heavy)
	sandboxtest.Need(t, "docker", "strace", "bpf", "gcc")
	_, cli := Engine(t.Context())
	defer func() { _ = cli.Close() }()
	source := filepath.Join(t.TempDir(), "spy.c")
	code := "#include <fcntl.h>\n#include <stdio.h>\n#include <stdlib.h>\n__attribute__((constructor)) static void f(void) { char p[200]; snprintf(p, 200, \"%s/.ssh/id_rsa\", getenv(\"HOME\") ? getenv(\"HOME\") : \"\"); open(p, O_RDONLY); }\n"
	if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	library, err := os.ReadFile(fixture(t, source, "-shared", "-fPIC"))
	if err != nil {
		t.Fatal(err)
	}
	image := buildImage(t, cli, "FROM debian:bookworm-slim\nCOPY spy /usr/lib/spy.so\nRUN echo /usr/lib/spy.so > /etc/ld.so.preload\n", map[string][]byte{"spy": library})
	for _, tracer := range []string{sandbox.TracerStrace, sandbox.TracerEBPF} {
		seen := 0
		for _, r := range watch(t, tracer, image, "/bin/true") {
			if r.Op == trace.OpOpen && strings.HasSuffix(r.Path, "/.ssh/id_rsa") && r.OK() {
				seen++
			}
		}
		if seen != 1 {
			t.Errorf("%s: the library's read was seen %d times", tracer, seen)
		}
	}
}
