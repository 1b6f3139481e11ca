//go:build !linux

package tap

import (
	"os"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// widen is for Linux's pipes.
func widen(*os.File) {}

// giveWay is for systems whose threads have a priority each.
func giveWay() {}

// bulk is for Linux's pipes.
type bulk struct{}

// bulkFrom is never asked for.
const bulkFrom = bufferSize

func newBulk(_, _ any) *bulk { return nil }

func (*bulk) ready() bool { return false }

func (*bulk) pass(*queue, session.Dir) (int64, error) { return 0, nil }

func (*bulk) close() {}
