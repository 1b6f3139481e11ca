package sandboxtest

import (
	"os"
	"testing"
)

// Main runs a package's tests and removes what they shared. It does not return; a TestMain calls it.
func Main(m *testing.M) {
	code := m.Run()
	CleanUp()
	os.Exit(code)
}
