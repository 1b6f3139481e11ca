package run

import (
	"slices"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// redact takes the real values that the user passed in out of a line.
func (r *recorder) redact(line []byte) []byte { return plan.Redact(line, r.secrets) }

// redacted is a record without them: its own names are still to be looked at.
func (r *recorder) redacted(rec *trace.Record) *trace.Record {
	if len(r.secrets) == 0 {
		return rec
	}
	out := *rec
	out.Argv = slices.Clone(rec.Argv)
	for i, a := range out.Argv {
		out.Argv[i] = string(r.redact([]byte(a)))
	}
	for _, name := range []*string{&out.Path, &out.Given, &out.To, &out.Cwd, &out.Exe} {
		*name = string(r.redact([]byte(*name)))
	}
	return &out
}

// Stderr implements sandbox.Sink. A passed value may come in two pieces: what may
// be the beginning of one waits for the next.
func (r *recorder) Stderr(stamp time.Duration, p []byte) {
	if len(r.secrets) > 0 {
		r.mu.Lock()
		p = r.redact(slices.Concat(r.held, p))
		whole := len(p) - r.unfinished(p)
		r.held = slices.Clone(p[whole:])
		p = p[:whole]
		r.mu.Unlock()
	}
	r.printed(stamp, p)
}

// unfinished is how much of the end of a text may be the beginning of a passed value.
func (r *recorder) unfinished(p []byte) int {
	n := 0
	for _, s := range r.secrets {
		for k := min(len(s)-1, len(p)); k > n; k-- {
			if string(p[len(p)-k:]) == s[:k] {
				n = k
			}
		}
	}
	return n
}

// printed logs what the server printed.
func (r *recorder) printed(stamp time.Duration, p []byte) {
	if len(p) == 0 {
		return
	}
	m := session.Mark{Time: stamp, Kind: session.MarkStderr}
	if utf8.Valid(p) {
		m.Text = string(p)
	} else {
		m.Data = slices.Clone(p)
	}
	r.mark(m)
}
