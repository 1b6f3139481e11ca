//go:build linux && e2e

package canaries

import "testing"

// The sources of the whole project hold no canary either.
func TestAllSourcesGiveNothing(t *testing.T) { sourcesGiveNothing(t, "..", 1_000_000) }
