package registry

import (
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// refusal is why a request is not allowed; its text goes to the client and the report.
type refusal struct{ reason string }

func (r *refusal) Error() string { return r.reason }

// access is a request that is allowed.
type access struct {
	url *url.URL
	// tool is whose network settings hold.
	tool Tool
	// registry is the one whose address it lies below, nil for a link to elsewhere.
	registry *Registry
	// credential is sent with it, nil for none.
	credential *credential
	// digest is what the index says of it.
	digest digest
	// linked says that an answer of a registry linked to it.
	linked bool
}

// allowList is which requests of a client are allowed.
type allowList struct {
	registries []Registry
	// hosts are those that settings name, with their ports. Internal addresses are
	// reached at these alone.
	hosts map[string]bool
	links *links
}

// registryOf is the registry that an address lies below: the one with the longest
// address, nil for none.
func (a *allowList) registryOf(u *url.URL) *Registry {
	var best *Registry
	for i := range a.registries {
		r := &a.registries[i]
		if below(u, r.URL) && (best == nil || len(r.URL.Path) > len(best.URL.Path)) {
			best = r
		}
	}
	return best
}

// knowsHost reports whether any request to a host, given with its port, could be allowed.
func (a *allowList) knowsHost(host string) bool {
	return a.links.hasHost(host) || slices.ContainsFunc(a.registries, func(r Registry) bool { return r.URL.Host == host })
}

// check decides on a request for a canonical address.
func (a *allowList) check(method string, u *url.URL) (*access, error) {
	r := a.registryOf(u)
	known, linked := a.links.find(u)
	if r == nil && !linked {
		if a.knowsHost(u.Host) {
			return nil, &refusal{"the path lies below no registry of yours, and no registry linked to it"}
		}
		return nil, &refusal{"the host is not one of your registries, and no registry linked to it"}
	}
	out := &access{url: u, registry: r, tool: known.tool, digest: known.digest, linked: linked}
	if r != nil {
		out.tool = r.Tool
		if err := r.check(method, u); err != nil {
			return nil, err
		}
	} else if method != http.MethodGet && method != http.MethodHead {
		return nil, &refusal{"the method is not GET or HEAD"}
	}
	out.credential = a.credentialFor(out)
	return out, nil
}

// credentialFor is the credential of the registry that an address lies below, or beside
// whose index its archives lie.
func (a *allowList) credentialFor(x *access) *credential {
	if x.registry != nil && x.registry.credential.applies(x.url) {
		return x.registry.credential
	}
	for i := range a.registries {
		if r := &a.registries[i]; r.Tool == x.tool && r.credential.applies(x.url) {
			return r.credential
		}
	}
	return nil
}

// check decides on a request for an address below the registry.
func (r *Registry) check(method string, u *url.URL) error {
	rest := strings.TrimPrefix(u.EscapedPath(), r.URL.EscapedPath())
	if r.role == roleRepository {
		fetch := method == http.MethodGet && rest == "info/refs" && u.RawQuery == "service=git-upload-pack" ||
			method == http.MethodPost && rest == "git-upload-pack" && u.RawQuery == ""
		if !fetch {
			return &refusal{"it is not a request by which git fetches"}
		}
		return nil
	}
	if method != http.MethodGet && method != http.MethodHead {
		return &refusal{"the method is not GET or HEAD"}
	}
	if r.role == rolePackuments && !isPackument(strings.TrimPrefix(u.Path, r.URL.Path)) {
		return &refusal{"it asks the registry for something other than a package"}
	}
	return nil
}

// isPackument reports whether a decoded path below npm's registry names a package or an archive.
// Below "-" are accounts, tokens and teams, which the user's token would open.
func isPackument(rest string) bool {
	canonical := path.Clean("/"+rest) == "/"+strings.TrimSuffix(rest, "/")
	return canonical && (rest == "-/ping" || rest != "-" && !strings.HasPrefix(rest, "-/"))
}

// learn takes in what an answer links to.
func (a *allowList) learn(x *access, l link) error {
	if l.url.Scheme == "http" && x.url.Scheme == "https" && !a.hosts[l.url.Host] {
		return nil // an answer that was safe on its way leads to one that is not
	}
	full := a.links.add(l.url, x.tool, l.digest)
	if l.metadata && !full {
		beside := *l.url
		beside.Path, beside.RawPath = l.url.Path+".metadata", l.url.EscapedPath()+".metadata"
		full = a.links.add(&beside, x.tool, digest{})
	}
	if full {
		return &refusal{"registries link to more addresses than are kept"}
	}
	return nil
}
