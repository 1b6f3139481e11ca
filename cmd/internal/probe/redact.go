package probe

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// leastSecret is the length from which on a passed value is told from other text.
const leastSecret = 4

// written are the texts by which values are recognised: as they are, and as JSON
// writes them. The longest come first, so that none leaves a rest of another.
func written(values []string) []string {
	var out []string
	for _, v := range values {
		out = append(out, v)
		for _, html := range []bool{true, false} {
			var b bytes.Buffer
			e := json.NewEncoder(&b)
			e.SetEscapeHTML(html)
			if e.Encode(v) == nil {
				out = append(out, strings.Trim(strings.TrimSpace(b.String()), `"`))
			}
		}
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.DeleteFunc(slices.Compact(out), func(v string) bool { return len(v) < leastSecret })
}

// redact takes the real values that the user passed in out of a line.
func (r *recorder) redact(line []byte) []byte {
	for _, s := range r.secrets {
		if bytes.Contains(line, []byte(s)) {
			line = bytes.ReplaceAll(line, []byte(s), []byte("[passed]"))
		}
	}
	return line
}

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
