package sweeptest

import (
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// Node is one process of a cluster.
type Node struct{ cmd *exec.Cmd }

// Kill ends a node at once, as kill -9 does.
func (n *Node) Kill() {
	_ = n.cmd.Process.Kill() // it is over where that fails
	_ = n.cmd.Wait()
}

// Cluster starts three nodes of NATS with JetStream, of the version in go.mod, and returns
// them with their addresses.
func Cluster(t testing.TB) (nodes []*Node, address string) {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "nats-server")
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
		cmd := exec.Command(program, "--name", fmt.Sprint("n", i), "--addr", "127.0.0.1", "--port", fmt.Sprint(ports[3+i]), "--jetstream", "--store_dir", filepath.Join(dir, fmt.Sprint("n", i)),
			"--cluster_name", "coalmine", "--cluster", routes[i], "--routes", strings.Join(routes, ","), "--log", filepath.Join(dir, fmt.Sprint("n", i, ".log")))
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		n := &Node{cmd}
		t.Cleanup(n.Kill)
		nodes, addresses = append(nodes, n), append(addresses, fmt.Sprintf("nats://127.0.0.1:%d", ports[3+i]))
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
