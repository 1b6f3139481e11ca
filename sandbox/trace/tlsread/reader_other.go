//go:build !linux || !(amd64 || arm64)

package tlsread

import (
	"context"
	"errors"
)

// Reader cannot be had here.
type Reader struct{}

// Open fails.
func Open(Options, func(*Piece), func(uint64, string)) (*Reader, error) {
	return nil, errors.New("TLS reader: it needs Linux on amd64 or arm64")
}

// Executed does nothing.
func (*Reader) Executed(int) {}

// Opened does nothing.
func (*Reader) Opened(int, string) {}

// Mapped does nothing.
func (*Reader) Mapped(int) {}

// Look does nothing.
func (*Reader) Look(context.Context) error { return nil }

// State has nothing to tell.
func (*Reader) State() (int, error) { return 0, nil }

// Drain does nothing.
func (*Reader) Drain(context.Context) error { return nil }

// Close does nothing.
func (*Reader) Close() {}
