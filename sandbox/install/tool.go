package install

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// toolError is a tool that failed, with what it printed.
type toolError struct {
	tool    string
	stderr  string
	refused []string
	// unreached are registries with the reason why no whole answer of theirs came.
	unreached []string
	err       error
}

func (e *toolError) Error() string { return fmt.Sprintf("%s: %v", e.tool, e.err) }
func (e *toolError) Unwrap() error { return e.err }

// stderrOf is what a failed tool printed.
func stderrOf(err error) string {
	var t *toolError
	if errors.As(err, &t) {
		return t.stderr
	}
	return ""
}

// unreached says which registry gave a failed tool no whole answer and why, "" where
// each gave one.
func unreached(err error) string {
	var t *toolError
	if !errors.As(err, &t) || len(t.unreached) == 0 {
		return ""
	}
	return t.unreached[0]
}

// elsewhere explains a refusal that came from coalmine's own proxy: what is depended on
// lies at no registry of the user's. It is nil where the proxy refused nothing.
func elsewhere(what string, err error) error {
	var t *toolError
	if !errors.As(err, &t) || len(t.refused) == 0 {
		return nil
	}
	return withHint("depend on what a registry has published, or name that host among your registries", "%s depends on %s, which is not one of your registries", what, t.refused[0])
}

var (
	userinfo  = lazyregexp.New(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^\s/"'@]*@`)
	address   = lazyregexp.New(`[a-zA-Z][a-zA-Z0-9+.-]*://[^\s"'<>]+`)
	secretly  = lazyregexp.New(`(?i)((?:_?auth(?:token)?|_?password|token|secret|api[_-]?key|bearer|basic)["']?\s*[=: ]\s*["']?)[^\s"',;&]{4,}`)
	secretly2 = lazyregexp.New(`\b(?:npm_|pypi-|gh[pousr]_|glpat-)[A-Za-z0-9_-]{8,}`)
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
