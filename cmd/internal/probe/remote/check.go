package remote

import (
	"context"
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// foreign is a host that cannot exist (RFC 6761), and foreignOrigin a web page of it.
const (
	foreign       = "rebinding.invalid"
	foreignOrigin = "http://" + foreign
)

// check looks at sessions and origins by requests of its own, after the ordinary session.
func (v *visit) check(ctx context.Context) {
	usual, err := v.http.do(ctx, posted(helloBody, nil))
	if err != nil || usual.result == nil {
		v.doubt(session.GapHTTPNotChecked, finding.PhaseHandshake, "sessions and origins were not checked: the server does not answer initialize over Streamable HTTP")
		return
	}
	v.origins(ctx)
	v.crossOrigin(ctx)
	v.sessions(ctx, usual)
}

// accepted reports whether initialize is answered with these headers for this host, and how.
func (v *visit) accepted(ctx context.Context, host string) (yes bool, status int) {
	a := posted(helloBody, http.Header{"Origin": {foreignOrigin}})
	a.host = host
	got, err := v.http.do(ctx, a)
	if err != nil {
		return false, 0
	}
	v.release(ctx, got, false)
	return got.result != nil, got.status
}

// origins sends initialize as a web page of another origin would (MCP 2025-11-25,
// transports, security warning).
func (v *visit) origins(ctx context.Context) {
	if Loopback(v.URL) {
		if yes, status := v.accepted(ctx, foreign); yes {
			v.fact(session.RemoteRebinding, "", "initialize with “Host: %s” and “Origin: %s” is answered with HTTP status %d", foreign, foreignOrigin, status)
			return
		}
	}
	if yes, status := v.accepted(ctx, ""); yes {
		v.fact(session.RemoteOrigin, "", "initialize with “Origin: %s” is answered with HTTP status %d", foreignOrigin, status)
	}
}

// crossOrigin asks as a browser does before it lets a page of another origin post.
func (v *visit) crossOrigin(ctx context.Context) {
	a := request{method: http.MethodOptions, bare: true, header: http.Header{
		"Origin": {foreignOrigin}, "Access-Control-Request-Method": {"POST"}, "Access-Control-Request-Headers": {"content-type"},
	}}
	got, err := v.http.do(ctx, a)
	if err != nil {
		return
	}
	origin := got.header.Get("Access-Control-Allow-Origin")
	credentials := got.header.Get("Access-Control-Allow-Credentials") == "true"
	if origin == foreignOrigin && (credentials || Loopback(v.URL)) || origin == "*" && Loopback(v.URL) {
		v.fact(session.RemoteCORS, "", "a preflight from “%s” is answered with Access-Control-Allow-Origin: %.100s, credentials %t", foreignOrigin, origin, credentials)
	}
}

// sessions looks at the ids of two sessions, and at what the server takes for one.
func (v *visit) sessions(ctx context.Context, first *reply) {
	id := first.header.Get(headerSession)
	if id == "" {
		return
	}
	second, err := v.http.do(ctx, posted(helloBody, nil))
	if err == nil && second.header.Get(headerSession) != "" {
		v.ids(id, second.header.Get(headerSession))
		v.release(ctx, second, false)
	}
	if got, err := v.http.do(ctx, posted(toolsBody, inSession(invented(id)))); err == nil && got.result != nil {
		v.fact(session.RemoteSessionInvented, "", "tools/list in a session of an invented id is answered with HTTP status %d", got.status)
	}
	_, _ = v.http.do(ctx, posted(readyBody, inSession(id))) // what it does to the session is seen next
	if status := v.release(ctx, first, false); status < 200 || status > 299 {
		return // it need not end sessions
	}
	if got, err := v.http.do(ctx, posted(toolsBody, inSession(id))); err == nil && got.result != nil {
		v.fact(session.RemoteSessionEnded, "", "after DELETE, tools/list in the same session is answered with HTTP status %d", got.status)
	}
}

// leastBits is how much a session id has to hold for nobody to guess it.
const leastBits = 64

// ids compares two session ids. Their text is a secret, and goes nowhere.
func (v *visit) ids(a, b string) {
	if strings.ContainsFunc(a, func(r rune) bool { return r < 0x21 || r > 0x7e }) {
		v.fact(session.RemoteSessionText, "", "an id has other characters than 0x21 to 0x7E")
	}
	switch differ := differing(a, b); {
	case a == b:
		v.fact(session.RemoteSessionNext, "", "two sessions have the same id")
	case differ <= 4 && len(a) > differ:
		v.fact(session.RemoteSessionNext, "", "two ids of %d characters differ in %d", len(a), differ)
	case bits(a) < leastBits:
		v.fact(session.RemoteSessionShort, "", "an id of %d characters holds at most %d bits", len(a), bits(a))
	}
}

// differing is the length of the part in which two ids differ.
func differing(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	a, b = a[n:], b[n:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return max(len(a), len(b))
}

// bits is how much an id can hold at most, by the kinds of its characters.
func bits(id string) int {
	each := 3 // digits alone: 3.3
	n := 0
	for _, r := range id {
		switch {
		case r >= '0' && r <= '9':
		case r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F':
			each = max(each, 4)
		case r == '-' || r == '.' || r == '_':
			continue
		default:
			each = 6
		}
		n++
	}
	return n * each
}

// invented is an id of the same form that the server never gave: letters and digits are drawn
// again.
func invented(id string) string {
	random := strings.ToLower(rand.Text() + rand.Text() + rand.Text())
	out := []byte(id)
	for i, c := range out {
		r := random[i%len(random)]
		switch {
		case c >= '0' && c <= '9':
			out[i] = '0' + r%10
		case c >= 'a' && c <= 'f':
			out[i] = 'a' + r%6
		case c >= 'g' && c <= 'z':
			out[i] = 'a' + r%26
		case c >= 'A' && c <= 'F':
			out[i] = 'A' + r%6
		case c >= 'G' && c <= 'Z':
			out[i] = 'A' + r%26
		}
	}
	return string(out)
}
