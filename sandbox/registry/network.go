package registry

import (
	"crypto/x509"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// network is how a tool reaches its registries: the user's proxy and authorities.
type network struct {
	httpProxy, httpsProxy, noProxy string
	// roots is what verifies registries, nil for the system's.
	roots *x509.CertPool
	// insecure switches verification off for all hosts, insecureHosts for some: names, or
	// names with a port.
	insecure      bool
	insecureHosts []string
}

// newNetwork is what the common variables say.
func (l *loader) newNetwork() (*network, error) {
	n := &network{}
	n.httpProxy, _ = l.env.first("http_proxy", "HTTP_PROXY")
	n.httpsProxy, _ = l.env.first("https_proxy", "HTTPS_PROXY")
	n.noProxy, _ = l.env.first("no_proxy", "NO_PROXY")
	if all, _ := l.env.first("all_proxy", "ALL_PROXY"); all != "" {
		if n.httpProxy == "" {
			n.httpProxy = all
		}
		if n.httpsProxy == "" {
			n.httpsProxy = all
		}
	}
	file, dirs := l.env["SSL_CERT_FILE"], l.env["SSL_CERT_DIR"]
	if file == "" {
		return n, nil
	}
	if err := n.trustFile(file, "SSL_CERT_FILE"); err != nil {
		return nil, err
	}
	for _, dir := range filepath.SplitList(dirs) {
		entries, err := os.ReadDir(dir)
		if err != nil || !filepath.IsAbs(dir) {
			continue
		}
		for _, e := range entries {
			if data, err := readFile(filepath.Join(dir, e.Name())); err == nil {
				n.roots.AppendCertsFromPEM(data)
			}
		}
	}
	return n, nil
}

// trustFile trusts the authorities of a PEM file alone.
func (n *network) trustFile(path, setting string) error {
	data, err := readFile(path)
	if err != nil {
		return err
	}
	return n.trustOnly(data, setting)
}

func (n *network) trustOnly(pem []byte, setting string) error {
	n.roots = x509.NewCertPool()
	if !n.roots.AppendCertsFromPEM(pem) {
		return withHint("let it name a PEM file of certificates", "%s names no authorities", setting)
	}
	return nil
}

// trustAlso trusts the authorities of a PEM file besides the others; it is false where
// the file holds none.
func (n *network) trustAlso(path string) bool {
	data, err := readFile(path)
	if err != nil {
		return false
	}
	var roots *x509.CertPool
	if n.roots != nil {
		roots = n.roots.Clone()
	} else if roots, err = x509.SystemCertPool(); err != nil {
		roots = x509.NewCertPool()
	}
	if !roots.AppendCertsFromPEM(data) {
		return false
	}
	n.roots = roots
	return true
}

// proxyFor says which proxy of the user's leads to an address, nil for none.
func (n *network) proxyFor() func(*http.Request) (*url.URL, error) {
	c := httpproxy.Config{HTTPProxy: n.httpProxy, HTTPSProxy: n.httpsProxy, NoProxy: n.noProxy}
	choose := c.ProxyFunc()
	return func(r *http.Request) (*url.URL, error) {
		p, err := choose(r.URL)
		if err != nil {
			return nil, errBadProxy // its own words would quote the proxy's password
		}
		return p, nil
	}
}

// unverified reports whether the user switched the verification of a host off.
func (n *network) unverified(u *url.URL) bool {
	if n.insecure {
		return true
	}
	for _, h := range n.insecureHosts {
		if strings.EqualFold(h, u.Hostname()) || strings.EqualFold(h, u.Host) {
			return true
		}
	}
	return false
}
