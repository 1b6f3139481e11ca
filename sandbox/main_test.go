package sandbox_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/agent"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func TestMain(m *testing.M) {
	if agent.Invoked() {
		os.Exit(agent.Main())
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
