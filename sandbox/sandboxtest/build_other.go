//go:build !linux

package sandboxtest

import "testing"

func build(t testing.TB, module, pkg, to string) {
	t.Helper()
	goBuild(t, module, pkg, to)
}
