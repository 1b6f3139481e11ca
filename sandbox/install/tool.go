package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

const (
	// toolTime bounds one run of npm or pip.
	toolTime = 10 * time.Minute
	// maxOutput bounds what of a tool's output is kept.
	maxOutput = 64 << 20
)

// bounded keeps the first bytes of a tool's output.
type bounded struct {
	bytes.Buffer
	max int
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := b.max - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// toolError is a tool that failed, with what it printed.
type toolError struct {
	tool   string
	stderr string
	err    error
}

func (e *toolError) Error() string { return fmt.Sprintf("%s: %v", e.tool, e.err) }
func (e *toolError) Unwrap() error { return e.err }

// run runs a tool of the user's in a directory, with the user's environment.
func run(ctx context.Context, dir string, env []string, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, toolTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, errs := &bounded{max: maxOutput}, &bounded{max: 1 << 20}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s: %w", filepath.Base(name), context.Cause(ctx))
	}
	if err != nil {
		return out.String(), &toolError{filepath.Base(name), errs.String(), err}
	}
	return out.String(), nil
}

// stderrOf is what a failed tool printed.
func stderrOf(err error) string {
	var t *toolError
	if errors.As(err, &t) {
		return t.stderr
	}
	return ""
}

var (
	userinfo  = regexp.MustCompile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/"'@]*@`)
	address   = regexp.MustCompile(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)
	secretly  = regexp.MustCompile(`(?i)((?:_?auth(?:token)?|_?password|token|secret|api[_-]?key|bearer|basic)["']?\s*[=: ]\s*["']?)[^\s"',;&]{4,}`)
	secretly2 = regexp.MustCompile(`\b(?:npm_|pypi-|gh[pousr]_|glpat-)[A-Za-z0-9_-]{8,}`)
)

// Redact takes what authenticates out of a text: the user of an address and what
// follows its "?", values after a word for a secret, and registries' tokens.
func Redact(s string) string {
	s = address.ReplaceAllStringFunc(s, func(a string) string {
		u, err := url.Parse(a)
		if err != nil {
			return userinfo.ReplaceAllString(a, "$1")
		}
		if u.User == nil && u.RawQuery == "" && u.Fragment == "" {
			return a
		}
		u.User, u.RawQuery, u.Fragment = nil, "", ""
		return u.String()
	})
	s = userinfo.ReplaceAllString(s, "$1")
	s = secretly.ReplaceAllString(s, "$1[redacted]")
	return secretly2.ReplaceAllString(s, "[redacted]")
}

// lastLine is the last line of a tool's complaint that says something, redacted and bounded.
func lastLine(s string, about ...string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		l := strings.TrimSpace(lines[i])
		if l == "" || !containsAny(l, about) {
			continue
		}
		l = Redact(l)
		return l[:min(len(l), 300)]
	}
	return ""
}

func containsAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return len(words) == 0
}
