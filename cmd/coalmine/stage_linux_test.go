package main

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/agent/stage"
)

// A stage ends before most of the program is initialised: sandboxes start several, and
// each would otherwise cost what the whole program's start does.
func TestStagesStartEarly(t *testing.T) {
	t.Parallel()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = self.Close() }()
	cmd := exec.Command("/proc/self/fd/4")
	cmd.Args = []string{stage.SelfPrefix + "4", "init"}
	cmd.Env = []string{"GODEBUG=inittrace=1"}
	cmd.ExtraFiles = []*os.File{null, self} // no link: it ends when it cannot greet
	var out bytes.Buffer
	cmd.Stderr = &out
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 125 {
		t.Fatalf("it did not run as a stage: %v\n%s", err, out.String())
	}
	for _, late := range []string{"init regexp ", "init net/http ", "init github.com/coalmine-dev/coalmine/analyze "} {
		if strings.Contains(out.String(), late) {
			t.Errorf("%swas there before the stage: sandbox/agent/stage imports too much\n%s", late, out.String())
		}
	}
	if !strings.Contains(out.String(), "init syscall ") {
		t.Errorf("the runtime does not trace packages: %s", out.String())
	}
}
