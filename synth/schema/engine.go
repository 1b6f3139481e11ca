package schema

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"
	"unicode"

	"github.com/dlclark/regexp2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const (
	// matchTimeout bounds one match of a server's own expression.
	matchTimeout = 400 * time.Millisecond
	// maxTimeouts is how many matches of one schema may run out of time before
	// it is given up: an expression that backtracks for ever does so each time.
	maxTimeouts = 8
	maxPattern  = 20_000
)

// engine compiles the expressions of one schema and counts those matches that
// ran out of time.
type engine struct {
	timeouts atomic.Int64
	cache    map[string]*expression
}

func newEngine() *engine { return &engine{cache: map[string]*expression{}} }

// expression is an ECMA-262 regular expression that gives up in time.
type expression struct {
	re     *regexp2.Regexp
	text   string
	engine *engine
}

func (x *expression) String() string { return x.text }

// MatchString is false where the match ran out of time.
func (x *expression) MatchString(s string) bool {
	if x.engine.exhausted() {
		return false
	}
	ok, err := x.re.MatchString(s)
	if err != nil {
		x.engine.timeouts.Add(1)
		return false
	}
	return ok
}

// exhausted says that the schema's expressions have used up their time.
func (e *engine) exhausted() bool { return e.timeouts.Load() >= maxTimeouts }

// compile is the validator's hook. The Unicode flag is what JSON Schema asks
// for; older expressions compile only without it, some only as .NET's.
func (e *engine) compile(text string) (jsonschema.Regexp, error) {
	if x, ok := e.cache[text]; ok {
		return x, nil
	}
	if len(text) > maxPattern {
		return nil, fmt.Errorf("%w: an expression of %d bytes", ErrTooLarge, len(text))
	}
	var first error
	for _, flags := range []regexp2.RegexOptions{regexp2.ECMAScript | regexp2.Unicode, regexp2.ECMAScript, regexp2.None} {
		re, err := safeCompile(withPlainProperties(text), flags)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		re.MatchTimeout = matchTimeout
		x := &expression{re: re, text: text, engine: e}
		e.cache[text] = x
		return x, nil
	}
	return nil, first
}

func safeCompile(text string, flags regexp2.RegexOptions) (re *regexp2.Regexp, err error) {
	defer func() {
		if p := recover(); p != nil {
			re, err = nil, fmt.Errorf("expression %q: %v", clip(text), p)
		}
	}()
	return regexp2.Compile(text, flags)
}

// withPlainProperties names Unicode's properties as the engine knows them:
// \p{Letter} and \p{Script=Greek} as \p{L} and \p{Greek}, and what it does not
// know at all by its ranges.
func withPlainProperties(text string) string {
	if !strings.Contains(text, `\p{`) && !strings.Contains(text, `\P{`) {
		return text
	}
	var b strings.Builder
	bracket := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '[':
			bracket = true
		case c == ']':
			bracket = false
		case c == '\\' && i+1 < len(text):
			end := strings.IndexByte(text[i:], '}')
			if (text[i+1] == 'p' || text[i+1] == 'P') && strings.HasPrefix(text[i+2:], "{") && end > 0 {
				writeProperty(&b, text[i+3:i+end], text[i+1] == 'P', bracket)
				i += end
				continue
			}
			b.WriteByte(c)
			i++
			c = text[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

func writeProperty(b *strings.Builder, name string, negated, bracket bool) {
	plain := plainProperty(name)
	letter := map[bool]string{false: "p", true: "P"}[negated]
	set, ok := propertySetOf(name)
	if unicode.Categories[plain] != nil || unicode.Scripts[plain] != nil || !ok || (negated && bracket) {
		fmt.Fprintf(b, `\%s{%s}`, letter, plain)
		return
	}
	if !bracket {
		b.WriteByte('[')
		if negated {
			b.WriteByte('^')
		}
		defer b.WriteByte(']')
	}
	for _, r := range set {
		fmt.Fprintf(b, `\u{%x}-\u{%x}`, r.lo, r.hi)
	}
}
