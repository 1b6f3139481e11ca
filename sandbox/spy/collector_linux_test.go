//go:build linux && (amd64 || arm64) && e2e

package spy

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy/talk"
)

func TestLoads(t *testing.T) {
	c, err := Open(Options{PIDs: []int{os.Getppid()}})
	if err != nil {
		t.Fatalf("%+v", err)
	}
	defer c.Close()
	time.Sleep(10*time.Millisecond)
	c.Stop()
	_ = bytes.Clone(nil)
	if err := c.Read(func(*talk.Chunk) {}, func(bool) {}); err != nil {
		t.Fatal(err)
	}
}
