package remote

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// authorization looks at whether the server asks for credentials, and at what it says of where
// to get them. first is its answer to initialize without any.
func (v *visit) authorization(ctx context.Context, first *reply) {
	refused := first.status == http.StatusUnauthorized || first.status == http.StatusForbidden
	if first.status == http.StatusUnauthorized && first.header.Get("Www-Authenticate") == "" {
		v.fact(session.RemoteNoChallenge, "", "HTTP status 401 without WWW-Authenticate")
	}
	described := v.resource(ctx)
	if v.issuer(ctx) {
		described = true // as the specification's revision 2025-03-26 has it
	}
	switch {
	case refused:
		if !described {
			v.fact(session.RemoteNoMetadata, "", "HTTP status %d, and no document below /.well-known/", first.status)
		}
		if v.lists(ctx, http.Header{"Authorization": {"Bearer coalmine-invented-token"}}) {
			v.fact(session.RemoteAnyToken, "", "tools/list with an invented bearer token is answered, and without one it is refused")
		}
	case len(v.http.header) > 0 && v.lists(ctx, nil):
		v.fact(session.RemoteNoAuthorization, "", "tools/list without the configured headers (%s) is answered", strings.Join(names(v.http.header), ", "))
	}
}

func names(h http.Header) []string {
	var out []string
	for name := range h {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// lists reports whether the tools are listed with these headers in place of the user's own.
func (v *visit) lists(ctx context.Context, header http.Header) bool {
	hello := posted(helloBody, header)
	hello.bare = true
	got, err := v.http.do(ctx, hello)
	if err != nil || got.result == nil {
		return false
	}
	id := got.header.Get(headerSession)
	with := inSession(id)
	for name, values := range header {
		with[name] = values
	}
	ready, tools := posted(readyBody, with), posted(toolsBody, with)
	ready.bare, tools.bare = true, true
	_, _ = v.http.do(ctx, ready) // some servers list nothing before it
	listed, err := v.http.do(ctx, tools)
	v.http.end(ctx, with)
	return err == nil && listed.result != nil
}

// end ends the session that the headers name.
func (p *peer) end(ctx context.Context, with http.Header) {
	if with.Get(headerSession) != "" {
		_, _ = p.do(ctx, request{method: http.MethodDelete, header: with, bare: true}) // it need not know it
	}
}

// document reads a JSON object at a path of the server's own origin. What it names is never followed.
func (v *visit) document(ctx context.Context, path string) map[string]json.RawMessage {
	u := *v.http.url
	u.Path, u.RawPath, u.RawQuery = path, "", ""
	got, err := v.http.do(ctx, request{method: http.MethodGet, url: &u, bare: true, header: http.Header{"Accept": {"application/json"}}})
	if err != nil || got.status != http.StatusOK || !jsonObject(got.body) {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(got.body, &members) != nil {
		return nil
	}
	return members
}

// wellKnown reads a document of RFC 8615, at the server's path or at the root.
func (v *visit) wellKnown(ctx context.Context, name string) map[string]json.RawMessage {
	if path := strings.TrimSuffix(v.http.url.Path, "/"); path != "" {
		if doc := v.document(ctx, "/.well-known/"+name+path); doc != nil {
			return doc
		}
	}
	return v.document(ctx, "/.well-known/"+name)
}

// resource checks the protected resource metadata (RFC 9728), and says whether there are any.
func (v *visit) resource(ctx context.Context) bool {
	doc := v.wellKnown(ctx, "oauth-protected-resource")
	if doc == nil {
		return false
	}
	if u, err := url.Parse(textOf(doc["resource"])); err != nil || !sameOrigin(u, v.http.url) {
		v.fact(session.RemoteResource, "", "the member resource of the protected resource metadata is %.200q", textOf(doc["resource"]))
	}
	for _, server := range textsOf(doc["authorization_servers"]) {
		v.encrypted("authorization_servers", server)
	}
	if slices.Contains(textsOf(doc["bearer_methods_supported"]), "query") {
		v.fact(session.RemoteQueryToken, "", "bearer_methods_supported names query")
	}
	return true
}

// endpoints are the addresses in an authorization server's metadata (RFC 8414).
var endpoints = []string{"issuer", "authorization_endpoint", "token_endpoint", "registration_endpoint", "jwks_uri", "revocation_endpoint"}

// issuer checks the metadata of an authorization server at the same origin, and says whether
// there are any.
func (v *visit) issuer(ctx context.Context) bool {
	doc := v.wellKnown(ctx, "oauth-authorization-server")
	if doc == nil {
		doc = v.wellKnown(ctx, "openid-configuration")
	}
	if doc == nil {
		return false
	}
	if u, err := url.Parse(textOf(doc["issuer"])); err != nil || !sameOrigin(u, v.http.url) {
		v.fact(session.RemoteIssuer, "", "the issuer is %.200q", textOf(doc["issuer"]))
	}
	for _, name := range endpoints {
		v.encrypted(name, textOf(doc[name]))
	}
	if !slices.Contains(textsOf(doc["code_challenge_methods_supported"]), "S256") {
		v.fact(session.RemoteNoPKCE, "", "code_challenge_methods_supported does not name S256")
	}
	if slices.Contains(textsOf(doc["response_types_supported"]), "token") {
		v.fact(session.RemoteImplicit, "", "response_types_supported names token")
	}
	return true
}

// encrypted notes an address over plain HTTP on another machine.
func (v *visit) encrypted(member, address string) {
	if u, err := url.Parse(address); err == nil && u.Scheme == "http" && !Loopback(u) {
		v.fact(session.RemoteMetadataCleartext, member, "%s names http://%.200s", member, u.Host)
	}
}

func textOf(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s) // what is no text is ""
	return s
}

// maxTexts bounds a list in a document.
const maxTexts = 50

func textsOf(raw json.RawMessage) []string {
	var list []string
	_ = json.Unmarshal(raw, &list) // the same
	return list[:min(len(list), maxTexts)]
}
