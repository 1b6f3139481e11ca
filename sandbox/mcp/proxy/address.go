package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// address is a URL in the one form in which the proxy compares URLs: as the WHATWG
// URL Standard's parser reads them, which browsers and Node use. Backslashes, tabs, dot
// segments, also percent-encoded, the case of hosts, IDNA and default ports are
// settled by then. Credentials and fragments, which no request carries, are left out.
type address struct {
	// origin is "http://127.0.0.1:8080".
	origin string
	// path begins with a slash; query is without its question mark.
	path, query string
	hasQuery    bool
}

// maxAddress bounds a URL, in bytes.
const maxAddress = 16 << 10

var errAddress = errors.New("it is not an http or https URL")

// parseAddress reads a URL, which may be relative to base.
func parseAddress(base, ref string) (address, error) {
	if len(ref) > maxAddress {
		return address{}, fmt.Errorf("it has more than %d bytes", maxAddress)
	}
	u, err := whatwg.ParseRef(base, ref)
	if err != nil {
		return address{}, errAddress // the parser's own words quote a server's
	}
	if s := u.Scheme(); s != "http" && s != "https" || u.Host() == "" {
		return address{}, errAddress
	}
	a := address{origin: u.Scheme() + "://" + u.Host(), path: u.Pathname(), query: u.Query(), hasQuery: strings.Contains(u.Href(true), "?")}
	if len(a.origin)+len(a.target()) > maxAddress {
		return address{}, fmt.Errorf("it has more than %d bytes", maxAddress)
	}
	return a, nil
}

// target is the path and the query, as a request's first line has them.
func (a address) target() string {
	if a.hasQuery {
		return a.path + "?" + a.query
	}
	return a.path
}

// loosePath is a path in the form in which some server could still take two for
// one: decoded, in small letters, without empty segments and parameters.
func loosePath(path string) string {
	decoded := []byte(path)
	for range 3 { // escapes of escapes
		next := unescapePath(decoded)
		if bytes.Equal(next, decoded) {
			break
		}
		decoded = next
	}
	var out []string
	for s := range strings.SplitSeq(strings.ReplaceAll(strings.ToLower(string(decoded)), `\`, "/"), "/") {
		s, _, _ = strings.Cut(s, ";")
		switch strings.TrimSpace(s) {
		case "", ".":
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, strings.TrimSpace(s))
		}
	}
	return "/" + strings.Join(out, "/")
}

func unescapePath(p []byte) []byte {
	out := make([]byte, 0, len(p))
	for i := 0; i < len(p); i++ {
		if p[i] == '%' && i+2 < len(p) {
			if a, b := hexValue(p[i+1]), hexValue(p[i+2]); a >= 0 && b >= 0 {
				out = append(out, byte(a<<4|b))
				i += 2
				continue
			}
		}
		out = append(out, p[i])
	}
	return out
}

func hexValue(c byte) int {
	if c >= 'A' && c <= 'F' {
		c += 'a' - 'A'
	}
	return strings.IndexByte("0123456789abcdef", c)
}

// referred is where a client that read ref in an answer to a request for at would
// go next, whichever name of the server it speaks to: the server's own, or the proxy's.
func (p *Proxy) referred(host, at, ref string) (a address, ours bool, err error) {
	proxied, err := parseAddress("http://"+host+at, ref)
	if err != nil {
		return proxied, false, err
	}
	self, err := parseAddress("", "http://"+host+"/")
	if err != nil {
		return proxied, false, err
	}
	// A path of two slashes would be read as another server's name.
	ours = (proxied.origin == self.origin || proxied.origin == p.origin) && !strings.HasPrefix(proxied.path, "//")
	return proxied, ours, nil
}
