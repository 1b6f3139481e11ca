//go:build linux && e2e

package servers

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/inplace"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// The image in which coalmine is the first process, made by make image.
func inContainer(t *testing.T, args ...string) (status int, output string) {
	t.Helper()
	out, err := exec.Command("docker", append([]string{"run", "--rm"}, args...)...).CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if exit != nil {
		status = exit.ExitCode()
	}
	return status, string(out)
}

func TestInPlace(t *testing.T) {
	t.Parallel()
	sandboxtest.Need(t, "docker")
	// The options are those that README.md and the hint give.
	options, _, _ := strings.Cut(strings.TrimPrefix(inplace.Command, "docker run --rm "), " coalmine")
	good := strings.Fields(options)
	open, secret := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(secret, ".env"), []byte("A=1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		args   []string
		status int
		says   []string
	}{
		{"a server of the image", append(good[:len(good):len(good)], "coalmine", "probe", "--", "python3", "-m", "mcp_server_time"), 0, []string{"mcp-time", ": clean", "inplace sandbox", "2 of 2 tools called"}},
		{"the demo", append(good[:len(good):len(good)], "coalmine"), 1, []string{"CM101", "CM108", "CM202", ": clean"}},
		{"a server that ends at once", append(good[:len(good):len(good)], "--entrypoint", "sh", "coalmine", "-c",
			"exec coalmine probe --out /tmp/o -- sh -c 'exit 3'"), 3, []string{"exit status 3"}},
		{"under the engine's own filter", append(slices.DeleteFunc(slices.Clone(good), func(o string) bool { return o == "--security-opt" || strings.HasPrefix(o, "seccomp=") }),
			"coalmine", "probe", "--", "python3", "-m", "mcp_server_time"), 3, []string{"a filter around the sandbox refuses system calls by itself", "seccomp=unconfined"}},
		{"without capabilities", []string{"--network", "none", "coalmine", "probe", "--", "true"}, 2, []string{"error: ", "SYS_PTRACE", "hint: docker run --rm --network none"}},
		{"with a mount of the host", append(good[:len(good):len(good)], "-v", open+":/mnt/x", "coalmine", "probe", "--", "true"), 2, []string{"can be written to", "-v " + open + ":/mnt/x:ro coalmine probe"}},
		{"with secrets in a mount", append(good[:len(good):len(good)], "-v", secret+":/mnt/x:ro", "coalmine", "probe", "--", "true"), 2, []string{"/mnt/x holds secrets that the server could read: /mnt/x/.env"}},
		{"with a network", []string{"--cap-add", "SYS_PTRACE", "--cap-add", "NET_ADMIN", "coalmine", "probe", "--", "true"}, 2, []string{"error: ", "has a network", "hint: docker run"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, out := inContainer(t, c.args...)
			if status != c.status {
				t.Errorf("status %d, want %d", status, c.status)
			}
			for _, s := range c.says {
				if !strings.Contains(out, s) {
					t.Errorf("it does not say %q", s)
				}
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
