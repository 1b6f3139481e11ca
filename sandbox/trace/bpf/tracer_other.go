//go:build !linux || !(amd64 || arm64)

package bpf

import (
	"context"
	"errors"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// errNone says that there is no eBPF here.
var errNone = errors.New("eBPF tracer: it needs Linux on amd64 or arm64")

// Options say what to watch.
type Options struct {
	PID    int
	Set    string
	Ring   int
	Files  func(pid int, path string)
	Chosen bool
}

// Tracer cannot be had here.
type Tracer struct{}

// Open fails.
func Open(Options) (*Tracer, error) { return nil, errNone }

// Start does nothing.
func (*Tracer) Start(int, bool, func(*trace.Record), func(uint64, string)) {}

// StartChosen does nothing.
func (*Tracer) StartChosen(func(int, *trace.Record), func(uint64, string)) {}

// Watch fails.
func (*Tracer) Watch(int) error { return errNone }

// Unwatch does nothing.
func (*Tracer) Unwatch(int) {}

// Drain fails.
func (*Tracer) Drain(context.Context) error { return errNone }

// Alive fails.
func (*Tracer) Alive() error { return errNone }

// Close does nothing.
func (*Tracer) Close() {}

// Supported says "no".
func Supported() (ok, reason string) { return "no", errNone.Error() }
