package registry

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// maxAddress bounds a URL, in bytes.
const maxAddress = 8 << 10

var (
	errAddress = errors.New("no address of the form http(s)://host/path")
	errPath    = errors.New("no address with a plain path and query")
)

// canonical is the form in which addresses are compared and asked for: http or https, a
// lower-case host with its port, no user and no fragment, and a path without dot segments.
func canonical(u *url.URL) (*url.URL, error) {
	scheme, host := strings.ToLower(u.Scheme), strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	if scheme != "http" && scheme != "https" || u.Opaque != "" || !validHost(host) || port == "0" || len(port) > 5 {
		return nil, errAddress
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if len(path)+len(u.RawQuery) > maxAddress || path[0] != '/' || !safePath(path) || strings.ContainsFunc(u.RawQuery, unprintable) {
		return nil, errPath
	}
	c := &url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), RawQuery: u.RawQuery, ForceQuery: u.ForceQuery}
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return nil, errAddress
	}
	c.Path, c.RawPath = decoded, path
	return c, nil
}

// parseAddress is the canonical form of a URL in a text.
func parseAddress(s string) (*url.URL, error) {
	if len(s) > maxAddress {
		return nil, errAddress
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, errAddress // its own words would quote the address
	}
	return canonical(u)
}

func unprintable(r rune) bool { return r <= ' ' || r >= 0x7f }

// validHost reports whether a host is an address or a name in ASCII.
func validHost(host string) bool {
	if host == "" || len(host) > 253 || slices.Contains(strings.Split(host, "."), "") {
		return false
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Zone() == ""
	}
	return !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_' && r != '.'
	})
}

// safePath reports whether no server can take a path for another one: it has no dot
// segment in any encoding, no backslash and no control character.
func safePath(escaped string) bool {
	if strings.ContainsFunc(escaped, unprintable) {
		return false
	}
	for range 3 { // some servers decode more than once
		decoded, err := url.PathUnescape(escaped)
		if err != nil {
			return false
		}
		if strings.ContainsFunc(decoded, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\\' }) {
			return false
		}
		for segment := range strings.SplitSeq(decoded, "/") {
			if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
				return false
			}
		}
		if decoded == escaped || strings.Count(decoded, "%") == 0 {
			return true
		}
		escaped = escapeStray(decoded)
	}
	return true
}

// escapeStray escapes percent signs that begin no escape.
func escapeStray(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			b.WriteString("%25")
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// below reports whether canonical address u is base, or lies below it.
func below(u, base *url.URL) bool {
	if u.Scheme != base.Scheme || u.Host != base.Host {
		return false
	}
	path, prefix := u.EscapedPath(), base.EscapedPath()
	if !strings.HasSuffix(prefix, "/") {
		prefix += "/"
	}
	return strings.HasPrefix(path, prefix) || path+"/" == prefix
}

// key is an address by which a link is found again whatever way its path is escaped.
func key(u *url.URL) string {
	var b strings.Builder
	b.WriteString(u.Scheme + "://" + u.Host)
	for segment := range strings.SplitSeq(strings.TrimPrefix(u.EscapedPath(), "/"), "/") {
		if s, err := url.PathUnescape(segment); err == nil {
			segment = url.PathEscape(s)
		}
		b.WriteString("/" + segment)
	}
	if u.RawQuery != "" {
		b.WriteString("?" + u.RawQuery)
	}
	return b.String()
}

// shown is an address as a tool writes it: without the port that its scheme implies.
func shown(u *url.URL) string {
	c := *u
	switch {
	case c.Scheme == "https" && c.Port() == "443", c.Scheme == "http" && c.Port() == "80":
		c.Host = c.Hostname()
		if strings.Contains(c.Host, ":") {
			c.Host = "[" + c.Host + "]"
		}
	}
	return c.String()
}

// isLoopback reports whether a host names this machine itself.
func isLoopback(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().IsLoopback() || a.IsUnspecified()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
