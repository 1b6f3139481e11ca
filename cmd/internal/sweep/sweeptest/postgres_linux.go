package sweeptest

import (
	"os"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// serve makes a database and serves it, on a socket below /run/coalmine alone.
const serve = `programs=$(echo /usr/lib/postgresql/*/bin)
install -d -o postgres /tmp/data
setpriv --reuid postgres --regid postgres --clear-groups "$programs/initdb" -D /tmp/data -U coalmine -A trust -E UTF8 --no-sync
exec setpriv --reuid postgres --regid postgres --clear-groups "$programs/postgres" -D /tmp/data -k /run/coalmine -c listen_addresses= -c fsync=off -c shared_buffers=16MB`

// Postgres starts a database of its own, without a network, and returns its address.
func Postgres(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "coalmine-postgres-") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	// The container's user is another one than this test's.
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	start(t, "coalmine-test/postgres", ".ci/setup/postgres.sh",
		testcontainers.WithEntrypoint("sh", "-euc", serve),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.NetworkMode = "none"
			c.Binds = []string{dir + ":/run/coalmine"}
		}),
		testcontainers.WithWaitStrategyAndDeadline(time.Minute, wait.ForLog("ready to accept connections")))
	return "postgres://coalmine@/postgres?host=" + dir
}
