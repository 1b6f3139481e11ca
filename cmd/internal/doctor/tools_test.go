package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// script makes the PATH hold one program only.
func script(t *testing.T, name, text string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if text == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestTool(t *testing.T) {
	cases := []struct {
		name, text string
		want       sandbox.Tri
		reason     string
	}{
		{"absent", "", sandbox.No, "thing is not in PATH"},
		{"answers", "echo v1.2.3; echo more", sandbox.Yes, "v1.2.3, /"},
		{"fails", "exit 3", sandbox.Unknown, "exit status 3"},
		{"endless", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; i=x$i; [ ${#i} -lt 3000 ] || exit 0; done", sandbox.Yes, "aaa"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			script(t, "thing", c.text)
			got := tool("get it", "thing")(t.Context())
			if got.OK != c.want || !strings.Contains(got.Reason, c.reason) || (got.OK == sandbox.No) != (got.Hint != "") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestStraceWorks(t *testing.T) {
	const version = `[ "$1" = -V ] && { echo "strace -- version $V"; exit 0; }` + "\n"
	cases := []struct {
		name, text string
		want       sandbox.Tri
		reason     string
	}{
		{"absent", "", sandbox.No, "not in PATH"},
		{"no version", "echo hello", sandbox.Unknown, "does not say its version"},
		{"too old", "V=4.26\n" + version, sandbox.No, "4.26 has no --seccomp-bpf"},
		{"nothing to try it on", "V=6.1\n" + version, sandbox.Unknown, "no program to try it on"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			script(t, "strace", c.text)
			if got := straceWorks(t.Context()); got.OK != c.want || !strings.Contains(got.Reason, c.reason) {
				t.Errorf("got %+v", got)
			}
		})
	}
	for name, c := range map[string]struct {
		text string
		want sandbox.Tri
	}{
		"denied":     {"echo 'strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted' >&2; exit 1", sandbox.No},
		"no seccomp": {"echo 'strace: seccomp filter is requested but unavailable' >&2; echo 'exit_group(0) = ?' >&2", sandbox.No},
		"works":      {"echo 'exit_group(0) = ?' >&2", sandbox.Yes},
	} {
		t.Run(name, func(t *testing.T) {
			script(t, "strace", "V=6.1\n"+version+c.text)
			if err := os.Symlink("/bin/true", filepath.Join(os.Getenv("PATH"), "true")); err != nil {
				t.Fatal(err)
			}
			if got := straceWorks(t.Context()); got.OK != c.want {
				t.Errorf("got %+v", got)
			}
		})
	}
}
