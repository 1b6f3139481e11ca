package sweeptest

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// Node is one container of a cluster.
type Node struct {
	container *testcontainers.DockerContainer
}

// Kill ends a node at once, as kill -9 does.
func (n *Node) Kill() {
	now := time.Duration(0)
	_ = n.container.Stop(context.Background(), &now) // it is over where that fails
}

// Cluster starts three nodes of NATS with JetStream, of the version in go.mod, and returns
// them with their addresses. They share the machine's network and listen on its loopback.
func Cluster(t testing.TB) (nodes []*Node, address string) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "nats-server")
	build := exec.Command("go", "build", "-o", program, "github.com/nats-io/nats-server/v2")
	build.Dir = sandboxtest.ModuleRoot(t)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build nats-server: %v\n%s", err, out)
	}
	ports := freePorts(t, 6)
	var routes, addresses []string
	for _, port := range ports[:3] {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	for i := range 3 {
		c := start(t, "coalmine", "make image",
			testcontainers.WithFiles(testcontainers.ContainerFile{HostFilePath: program, ContainerFilePath: "/nats-server", FileMode: 0o755}),
			testcontainers.WithEntrypoint("/nats-server", "--name", fmt.Sprint("n", i), "--addr", "127.0.0.1", "--port", fmt.Sprint(ports[3+i]), "--jetstream", "--store_dir", "/tmp/store",
				"--cluster_name", "coalmine", "--cluster", routes[i], "--routes", strings.Join(routes, ",")),
			testcontainers.WithHostConfigModifier(func(c *container.HostConfig) { c.NetworkMode = "host" }),
			testcontainers.WithWaitStrategyAndDeadline(time.Minute, wait.ForLog("Server is ready")))
		nodes, addresses = append(nodes, &Node{c}), append(addresses, fmt.Sprintf("nats://127.0.0.1:%d", ports[3+i]))
	}
	return nodes, strings.Join(addresses, ",")
}

// freePorts are ports of the loopback that nothing listens on.
func freePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }() // nothing was sent
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
