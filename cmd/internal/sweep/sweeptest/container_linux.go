package sweeptest

import (
	"os"
	"os/exec"
	"testing"

	"github.com/testcontainers/testcontainers-go"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// start starts a container of an image that is on this machine. It ends with the test.
func start(t testing.TB, image, made string, options ...testcontainers.ContainerCustomizer) *testcontainers.DockerContainer {
	t.Helper()
	sandboxtest.Need(t, "docker")
	if out, err := exec.Command("docker", "image", "inspect", image).CombinedOutput(); err != nil {
		t.Fatalf("the image %s is not there (%s): %s", image, made, out)
	}
	// The container that would remove those left by a killed test is an image of a registry.
	if err := os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"); err != nil {
		t.Fatal(err)
	}
	c, err := testcontainers.Run(t.Context(), image, options...)
	testcontainers.CleanupContainer(t, c, testcontainers.StopTimeout(0))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
