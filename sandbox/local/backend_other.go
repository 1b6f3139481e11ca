//go:build !linux

package local

import (
	"context"
	"errors"
	"runtime"

	"github.com/coalmine-dev/coalmine/sandbox"
)

// Backend needs Linux; elsewhere it says so.
type Backend struct{}

// New returns the backend.
func New() *Backend { return &Backend{} }

// Name is "local".
func (*Backend) Name() string { return "local" }

// Supported says no.
func (*Backend) Supported(context.Context) sandbox.Support {
	return sandbox.Support{OK: sandbox.No, Reason: "the local sandbox needs Linux, this is " + runtime.GOOS, Hint: "use --sandbox docker"}
}

// Start fails.
func (b *Backend) Start(ctx context.Context, _ sandbox.Spec) (sandbox.Conn, error) {
	s := b.Supported(ctx)
	return nil, &sandbox.UsageError{Err: errors.New(s.Reason), Hint: s.Hint}
}

// Clean has nothing to remove.
func Clean() []string { return nil }
