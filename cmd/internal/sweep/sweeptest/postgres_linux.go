package sweeptest

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Postgres starts a database in a directory of its own and returns its address. It skips
// the test where PostgreSQL is not installed.
func Postgres(t testing.TB) string {
	t.Helper()
	programs := postgresPrograms(t)
	dir, err := os.MkdirTemp("", "coalmine-postgres-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	as := owner(t, dir)
	data := filepath.Join(dir, "data")
	command := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(filepath.Join(programs, name), args...)
		cmd.Dir = dir
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as, Pdeathsig: syscall.SIGQUIT}
		return cmd
	}
	if out, err := command("initdb", "-D", data, "-U", "coalmine", "-A", "trust", "-E", "UTF8", "--no-sync").CombinedOutput(); err != nil {
		t.Fatalf("initdb: %v\n%s", err, out)
	}
	server := command("postgres", "-D", data, "-k", dir, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "shared_buffers=16MB")
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.Process.Signal(syscall.SIGINT) // it is over where that fails
		_ = server.Wait()
	})
	for deadline := time.Now().Add(time.Minute); command("pg_isready", "-q", "-h", dir).Run() != nil; {
		if time.Now().After(deadline) {
			t.Fatal("PostgreSQL does not start")
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "postgres://coalmine@/postgres?host=" + dir
}

// postgresPrograms is the directory of PostgreSQL's programs, which Debian keeps out of the
// PATH.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	if found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb"); len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	name, err := exec.LookPath("initdb")
	if err != nil {
		t.Skip("PostgreSQL is not installed (.ci/setup/postgres.sh installs it)")
	}
	return filepath.Dir(name)
}

// owner gives a directory to the user that PostgreSQL runs as, since it refuses root; nil
// is for this user.
func owner(t testing.TB, dir string) *syscall.Credential {
	t.Helper()
	if os.Getuid() != 0 {
		return nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		t.Skipf("PostgreSQL does not run as root: %v", err)
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.Chown(dir, uid, gid); err != nil {
		t.Fatal(err)
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}
