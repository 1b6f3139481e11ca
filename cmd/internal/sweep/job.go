package sweep

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/listing"
)

// Probe runs one target and writes its files into a fresh directory below out, whose path
// it returns. status is the exit status that a probe would have.
type Probe func(ctx context.Context, t listing.Target, out string) (dir string, status int, err error)

// job is what a worker is handed.
type job struct {
	Sweep  string         `json:"sweep"`
	Name   string         `json:"name"`
	Target listing.Target `json:"target"`
	// Trace is the sweep's span in the form of a traceparent header, "" for none.
	Trace string `json:"trace,omitempty"`
}

// answer is what a worker hands back; the run itself is in the queue's store of runs.
type answer struct {
	Status int `json:"status"`
	// Run is the name of the run there, which begins with those of the sweep and the job.
	Run string `json:"run,omitempty"`
	// Error says why there is no run, "" where there is one.
	Error string `json:"error,omitempty"`
	// Dead says that it was begun too often.
	Dead bool      `json:"dead,omitempty"`
	Ran  time.Time `json:"ran"`
	// Seconds is what the run took.
	Seconds float64 `json:"seconds"`
	Try     int     `json:"try"`
}

// maxTries is how often a job is begun before it is given up: a server that ends its worker
// would end each.
const maxTries = 3

// maxError bounds the text of an error that is kept, in bytes.
const maxError = 2000

func encode(v any) []byte {
	data, _ := json.Marshal(v) // texts, numbers and times
	return data
}

// logger is l, or one that says nothing.
func logger(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

func shortened(err error) string {
	text := err.Error()
	if len(text) > maxError {
		text = text[:maxError] + "…"
	}
	return text
}
