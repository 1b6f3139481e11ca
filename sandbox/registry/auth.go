package registry

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
)

// credential is what authenticates requests to one registry. It is always held by a
// pointer in an unexported field, which no format verb follows.
type credential struct {
	// authorization is the value of the header, "" for none.
	authorization string
	// certificate is presented in the TLS handshake, nil for none.
	certificate *tls.Certificate
	// below is where it is sent: a registry's address, or its parent where a registry
	// keeps its index and its files beside each other.
	below *url.URL
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// fingerprint tells credentials apart in names of the cache, and does not tell them.
func (c *credential) fingerprint() string {
	if c == nil {
		return ""
	}
	h := sha256.New()
	_, _ = h.Write([]byte("coalmine credential\x00" + c.authorization + "\x00"))
	if c.certificate != nil {
		for _, der := range c.certificate.Certificate {
			_, _ = h.Write(der)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// applies reports whether the credential belongs to requests for u.
func (c *credential) applies(u *url.URL) bool {
	return c != nil && below(u, c.below)
}

// safeValue reports whether a value may stand in a header: RFC 9110, section 5.5.
func safeValue(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}
