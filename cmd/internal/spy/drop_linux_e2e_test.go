//go:build linux && e2e

package spy

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/slots"
)

// dropper watches as nobody, and says once it does what the kernel says of it.
func dropper() {
	ctx, stop := context.WithCancel(context.Background())
	_, err := Run(ctx, Options{Format: Console, Redact: RedactAuto, Out: io.Discard, UID: 65534, GID: 65534,
		Say: func(line string) { fmt.Println(line) },
		Ready: func() {
			status, err := os.ReadFile("/proc/self/status")
			fmt.Println(string(status), err)
			stop()
		}})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// Root becomes another user in all threads once the programs are attached, with the two capabilities that
// watching needs.
func TestRootBecomesNobody(t *testing.T) {
	slots.Acquire(t, 1)
	sandboxtest.Need(t, "bpf")
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), modeEnv+"=dropper")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"Uid:\t65534\t65534\t65534\t65534\n", "Gid:\t65534\t65534\t65534\t65534\n", "CapEff:\t0000008000080000\n", "CapPrm:\t0000008000080000\n", "NoNewPrivs:\t1\n"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("%q is not in %s", want, said)
		}
	}
	if strings.Contains(string(said), "warning: ") {
		t.Errorf("%s", said)
	}
}
