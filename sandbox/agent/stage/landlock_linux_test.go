package stage

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const confinedEnv = "STAGE_TEST_CONFINED"

// beConfined confines this process to the first directory, and says what it
// could do in both.
func beConfined(dirs string) {
	in, out, _ := strings.Cut(dirs, ":")
	runtime.LockOSThread()
	say := func(what string, err error) {
		var errno unix.Errno
		errors.As(err, &errno)
		fmt.Println(what, unix.ErrnoName(errno))
	}
	say("privileges", unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	say("confine", confine([]string{in, in + "/nowhere", "/dev/null"}))
	say("write in", os.WriteFile(in+"/new", []byte("x"), 0o600))
	say("mkdir in", os.Mkdir(in+"/dir", 0o700))
	say("rename in", os.Rename(in+"/new", in+"/dir/new"))
	say("null", os.WriteFile("/dev/null", []byte("x"), 0))
	_, err := os.ReadFile(out + "/old")
	say("read out", err)
	say("write out", os.WriteFile(out+"/new", []byte("x"), 0o600))
	say("change out", os.WriteFile(out+"/old", []byte("x"), 0o600))
	say("remove out", unix.Unlink(out+"/old"))
	say("move out", os.Rename(in+"/dir/new", out+"/new"))
	if landlock() >= scopeABI {
		say("signal", unix.Kill(os.Getppid(), 0))
	}
}

// What is confined writes in its places and nowhere else, whatever the
// permissions of the files say.
func TestConfine(t *testing.T) {
	if dirs := os.Getenv(confinedEnv); dirs != "" {
		beConfined(dirs)
		os.Exit(0)
	}
	if landlock() < minABI {
		t.Skip("the kernel has no Landlock to be tested")
	}
	in, out := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(out, "old"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestConfine$")
	cmd.Env = []string{confinedEnv + "=" + in + ":" + out}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	want := "privileges \nconfine \nwrite in \nmkdir in \nrename in \nnull \nread out \nwrite out EACCES\nchange out EACCES\nremove out EACCES\nmove out EACCES\n"
	if landlock() >= scopeABI {
		want += "signal EPERM\n"
	}
	if string(said) != want {
		t.Errorf("it said\n%swant\n%s", said, want)
	}
	if b, err := os.ReadFile(filepath.Join(out, "old")); string(b) != "old" {
		t.Errorf("what lies outside was changed: %q, %v", b, err)
	}
}
