package canaries

import (
	"slices"
	"strings"
)

// IssuedBy reports whether a host is one of the canary's issuers. A pattern
// "*.d" stands for every name below d, not for d.
func (c Canary) IssuedBy(host string) bool {
	host = hostName(host)
	return host != "" && slices.ContainsFunc(c.Issuers, func(pattern string) bool {
		if rest, ok := strings.CutPrefix(pattern, "*"); ok {
			return len(host) > len(rest) && strings.HasSuffix(host, rest)
		}
		return host == pattern
	})
}

// hostName is a host in small letters, without a port and the root's dot.
func hostName(host string) string {
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// usedAt reports whether the canary is what a credential of a request says, and
// the request goes to nobody but its issuer: by the name that was looked up, by
// the one that TLS was asked for, and by the one that the request itself names,
// for behind a front they differ.
func (c Canary) usedAt(f Flow, k credential) bool {
	if !f.TLS || !c.IssuedBy(f.Host) || !c.IssuedBy(k.host) || f.SNI != "" && !c.IssuedBy(f.SNI) {
		return false
	}
	if want := c.awsPosition(); want != "" && k.position != want {
		return false
	}
	return slices.Contains(k.values, c.Value)
}

// awsPosition is the only place in which a value of AWS's is ever sent: the id
// in a signature, the token of a session beside it, the secret nowhere. It is ""
// for other values.
func (c Canary) awsPosition() string {
	switch {
	case strings.HasPrefix(c.Value, "AKIA"), strings.HasPrefix(c.Value, "ASIA"):
		return positionAWS
	case strings.HasPrefix(c.Value, "IQoJ"):
		return positionSession
	case c.Kind == "aws":
		return "nowhere"
	}
	return ""
}
