package sandboxtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// AsOrdinaryUser runs the named tests of the calling test's program once more,
// as a user that is not root and owns nothing. The programs that these tests
// build are built here and now. An ordinary user's own test run has nothing to add.
func AsOrdinaryUser(t *testing.T, pattern string, programs ...string) {
	t.Helper()
	Need(t, "root", "userns")
	dir, err := os.MkdirTemp("", "ordinary")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, p := range programs {
		copyProgram(t, Build(t, p), filepath.Join(dir, filepath.Base(p)))
	}
	self := filepath.Join(dir, "test")
	copyProgram(t, "/proc/self/exe", self)
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// No ordinary user may watch from the kernel.
	required := slices.DeleteFunc(strings.Split(os.Getenv("COALMINE_REQUIRE"), ","), func(thing string) bool { return thing == "bpf" })
	cmd := exec.Command(self, "-test.run="+pattern, "-test.timeout=300s")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent", builtEnv + "=" + dir, slots.HeldEnv + "=1", "COALMINE_REQUIRE=" + strings.Join(required, ",")}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	WriteProgram(t, to, data)
}

// WriteProgram writes an executable file. No process starts meanwhile: one forked then
// would hold the file open for writing, and its exec would fail with "text file busy".
func WriteProgram(t testing.TB, to string, data []byte) {
	t.Helper()
	syscall.ForkLock.RLock()
	err := os.WriteFile(to, data, 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
}
