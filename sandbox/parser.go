package sandbox

import (
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// newParser makes the reader of a tracer's log.
func newParser(_ time.Duration, _ func(*trace.Record), _ func([]byte, error)) tracer {
	return discard{}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }
