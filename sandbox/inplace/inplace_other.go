//go:build !linux

package inplace

import (
	"context"
	"errors"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// Backend is the container around this process; only Linux has such.
type Backend struct{}

// New returns the backend.
func New() *Backend { return &Backend{} }

// Name is "inplace".
func (*Backend) Name() string { return "inplace" }

// Here is false: no process of this system is the first of a container.
func Here() bool { return false }

// Supported implements sandbox.Backend.
func (*Backend) Supported(context.Context) sandbox.Support {
	return sandbox.Support{OK: sandbox.No, Reason: "only Linux has containers to be in"}
}

// Start implements sandbox.Backend.
func (*Backend) Start(context.Context, sandbox.Spec) (sandbox.Conn, error) {
	return nil, &sandbox.UsageError{Err: errors.New("only Linux has containers to be in")}
}

// Mounted is false: there is no container.
func (*Backend) Mounted(string) bool { return false }
