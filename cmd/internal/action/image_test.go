//go:build linux && e2e

package action

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// mounted runs the image with a checkout that a pull request changed, which it may only read, and returns how it
// ended and what it said.
func mounted(t *testing.T, change func(dir string), options container.HostConfig) (status int, said string) {
	t.Helper()
	sandboxtest.Need(t, "docker")
	j, base := prJob(t, change)
	options.Binds = append(options.Binds, j.dir+":/repo:ro")
	// The container that would remove those left by a killed test is an image of a registry.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		t.Fatal(err)
	}
	c, err := testcontainers.Run(t.Context(), "coalmine",
		testcontainers.WithCmd("probe", "--config", ".mcp.json", "--changed-since", base, "--seed", "1", "--out", "/tmp/out"),
		testcontainers.WithConfigModifier(func(c *container.Config) { c.WorkingDir = "/repo" }),
		testcontainers.WithHostConfigModifier(func(h *container.HostConfig) {
			h.Binds, h.NetworkMode, h.CapAdd, h.SecurityOpt, h.Sysctls = options.Binds, options.NetworkMode, options.CapAdd, options.SecurityOpt, options.Sysctls
		}),
		testcontainers.WithWaitStrategy(wait.ForExit().WithExitTimeout(5*time.Minute)))
	testcontainers.CleanupContainer(t, c, testcontainers.StopTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	logs, err := c.Logs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer logs.Close()
	text, err := io.ReadAll(logs)
	if err != nil {
		t.Fatal(err)
	}
	state, err := c.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return state.ExitCode, string(text)
}

// isSandbox are the options with which the container is the sandbox, and needs no engine.
func isSandbox() container.HostConfig {
	return container.HostConfig{NetworkMode: "none", CapAdd: []string{"SYS_PTRACE", "NET_ADMIN"}, SecurityOpt: []string{"seccomp=unconfined"},
		Sysctls: map[string]string{"net.ipv6.conf.all.disable_ipv6": "0"}}
}

// hasSocket are those with which it starts containers beside itself.
func hasSocket() container.HostConfig {
	return container.HostConfig{Binds: []string{"/var/run/docker.sock:/var/run/docker.sock"}}
}

func mountedLeaky(t *testing.T)  { gates(t, isSandbox(), addLeaky(t), 1, "CM1") }
func mountedHonest(t *testing.T) { gates(t, isSandbox(), addHonest(t), 0, ": clean") }
func mountedNothing(t *testing.T) {
	gates(t, isSandbox(), nothing, 0, "nothing to probe")
}
func siblingLeaky(t *testing.T)  { gates(t, hasSocket(), addLeaky(t), 1, "CM1") }
func siblingHonest(t *testing.T) { gates(t, hasSocket(), addHonest(t), 0, ": clean") }

func gates(t *testing.T, options container.HostConfig, change func(string), want int, says string) {
	t.Helper()
	if status, said := mounted(t, change, options); status != want || !strings.Contains(said, says) {
		t.Errorf("status %d, want %d and %q:\n%s", status, want, says, said)
	}
}

// jenkins runs the script of the sample for Jenkins, and azure the one for Azure Pipelines, with
// the image that make image built.
func jenkins(t *testing.T) {
	file := read(t, filepath.Join(sandboxtest.ModuleRoot(t), "deploy", "jenkins", "Jenkinsfile"))
	_, script, found := strings.Cut(file, "sh '''")
	script, _, closed := strings.Cut(script, "'''")
	if !found || !closed {
		t.Fatal("the sample has no script")
	}
	inImage(t, strings.ReplaceAll(script, `\\`, `\`), "WORKSPACE")
}

func azure(t *testing.T) {
	var sample struct{ Steps []struct{ Script string } }
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sandboxtest.ModuleRoot(t), "deploy", "azure", "azure-pipelines.yml"))), &sample); err != nil {
		t.Fatal(err)
	}
	for _, s := range sample.Steps {
		if s.Script != "" {
			inImage(t, s.Script, "BUILD_SOURCESDIRECTORY")
			return
		}
	}
	t.Fatal("the sample has no script")
}

// inImage runs a sample's script in a checkout that adds a leaky server.
func inImage(t *testing.T, script, workspace string) {
	t.Helper()
	sandboxtest.Need(t, "docker")
	j, _ := prJob(t, addLeaky(t))
	cmd := exec.Command("bash", "-e", "-c", script)
	cmd.Dir = j.dir
	cmd.Env = append(gitEnv(), "PATH="+j.path, "HOME="+j.temp, workspace+"="+j.dir, "COALMINE_IMAGE=coalmine")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if status := cmd.ProcessState.ExitCode(); status != 1 {
		t.Errorf("status %d\n%s", status, out)
	}
	for name, holds := range map[string]string{"junit.xml": "<failure ", "coalmine.sarif": "CM1", "coalmine-out/leaky/report.html": "leaky"} {
		if !strings.Contains(read(t, filepath.Join(j.dir, name)), holds) {
			t.Errorf("%s does not hold %s\n%s", name, holds, out)
		}
	}
}
