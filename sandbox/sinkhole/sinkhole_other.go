//go:build !linux

package sinkhole

import (
	"context"
	"errors"
	"os"
)

// Sinkhole is an armed namespace.
type Sinkhole struct {
	Files   []*os.File
	IPv6    bool
	Notes   []string
	Partial bool
}

var errLinux = errors.New("a sinkhole needs Linux's network namespaces")

// Close does nothing.
func (*Sinkhole) Close() error { return nil }

// Arm fails: there are no network namespaces here.
func Arm(Config) (*Sinkhole, error) { return nil, errLinux }

// Serve fails as Arm does.
func Serve(context.Context, []*os.File, Config, func(Event)) error { return errLinux }
