package detect

import (
	"bytes"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/handout"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// handouts finds code in what a server says that sends secrets of whoever runs it to a host that
// nobody named.
type handouts struct{}

func (handouts) name() string { return "handed_out_code" }

// leastCode is the shortest text that is read as code, and maxHandouts how many of one message are.
const (
	leastCode   = 20
	maxHandouts = 200
)

func (handouts) event(c *context) {
	if !c.FromServer() || c.Kind == wire.Unparsed || isDeclaration(c) {
		return
	}
	if !handout.Possible(c.Result) && !handout.Possible(c.Fault) && !handout.Possible(c.Params) {
		return
	}
	whose, extra := sayer(c)
	told, n := map[string]bool{}, 0
	for _, body := range [][]byte{c.Result, c.Fault, c.Params} {
		wire.Texts(body, func(_ [][]byte, quoted []byte, isName bool) {
			if isName || len(quoted) < leastCode || n >= maxHandouts || !handout.Possible(quoted) {
				return
			}
			s, _ := wire.Text(quoted)
			n++
			for _, l := range Once(c.known, "leaks", s, handout.Leaks) {
				if !told[l.Host] && !named(c, l.Host) {
					told[l.Host] = true
					tellLeak(c, whose, extra, &l)
				}
			}
		})
	}
}

func tellLeak(c *context, whose string, extra []any, l *handout.Leak) {
	severity := 2
	if l.Sure {
		severity = 3
	}
	c.add(Divergence, "code_sends_secrets", severity, append([]any{"host", name(l.Host)}, extra...), "%s holds code that sends %s to %s (%s)", whose, name(l.Secret), name(l.Host), name(l.Via))
	c.identify("code that sends secrets")
}

// named reports whether the call, or what the server declares of its tools, names a host.
func named(c *context, host string) bool {
	domain := []byte(handout.Domain(host))
	if bytes.Contains(bytes.ToLower(c.given), domain) || c.sent.has(domain) {
		return true
	}
	if c.state.Surface == nil {
		return false
	}
	for _, t := range c.state.Surface.Tools {
		if strings.Contains(strings.ToLower(t.Description), string(domain)) || bytes.Contains(bytes.ToLower(t.InputSchema), domain) {
			return true
		}
	}
	return false
}
