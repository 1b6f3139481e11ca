package sandbox_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if os.Getenv(answererEnv) != "" {
		answer()
	}
	code := m.Run()
	sandboxtest.CleanUp()
	os.Exit(code)
}

// within bounds every wait of these tests; none of them should come near it.
const within = 30 * time.Second

func bounded(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// spec runs a command in a bare sandbox.
func spec(command ...string) sandbox.Spec {
	return sandbox.Spec{
		Command: command, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Hostname: "box",
		User: agent.User{Name: "dev", UID: 1000, GID: 1000, Home: "/home/dev"},
	}
}

// answererEnv makes this program a server for the tests of connections.
const answererEnv = "ANSWERER"

// answer listens on a port and answers each question: two sizes, then as many
// bytes as the first says. What comes back has the second size.
func answer() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		os.Exit(1)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			os.Exit(1)
		}
		go func() {
			defer c.Close()
			head := make([]byte, 8)
			for {
				if _, err := io.ReadFull(c, head); err != nil {
					return
				}
				up, down := binary.LittleEndian.Uint32(head), binary.LittleEndian.Uint32(head[4:])
				if _, err := io.CopyN(io.Discard, c, int64(up)); err != nil {
					return
				}
				if _, err := c.Write(make([]byte, down)); err != nil {
					return
				}
			}
		}()
	}
}
