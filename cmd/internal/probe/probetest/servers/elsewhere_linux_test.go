//go:build linux && e2e

package servers

import (
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
)

// TestElsewhere: what a server does on another operating system alone shows, and an honest branch for it is no doubt.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	probeTwins(t, "elsewhere", "as if on ", func(*probetest.Request) {})
}
