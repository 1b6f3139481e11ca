package run

import (
	"bytes"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/synth/literals"
)

// What a client says after it was answered at an endpoint.
const (
	initializedBody = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	listID          = `"id":2`
	listBody        = `{"jsonrpc":"2.0",` + listID + `,"method":"tools/list"}`
	// maxSessionID bounds a session's id that is sent back, maxEndpoints the paths that are tried.
	maxSessionID, maxEndpoints = 256, 6
)

var (
	// usualEndpoints are where servers speak the protocol.
	usualEndpoints = []string{"/mcp", "/", "/sse"}
	// endpointName is how the paths of routes end that may speak it.
	endpointName = regexp.MustCompile(`(?i)/(?:mcp|sse)/?$`)
	// versionSaid is the version that a server answers with, endpointSaid the path that one of the older transport names.
	versionSaid  = regexp.MustCompile(`"protocolVersion"\s*:\s*"(\d{4}-\d\d-\d\d)"`)
	endpointSaid = regexp.MustCompile(`(?m)^event: ?endpoint\r?\ndata: ?(\S{1,500})\r?$`)
)

// welcomes reports whether an answer is one of the protocol's to a client that begins. What a server that only
// repeats the question says is none.
func (r *reply) welcomes() bool {
	return r.ok() && (versionSaid.Match(r.body) && bytes.Contains(r.body, []byte(`"serverInfo"`)) || endpointSaid.Match(r.body))
}

// endpointsOf are the paths that are tried at another port than the server's own.
func endpointsOf(routes []literals.Route) []string {
	out := slices.Clone(usualEndpoints)
	for _, r := range routes {
		if endpointName.MatchString(r.Path) && !slices.Contains(out, r.Path) && len(out) < maxEndpoints {
			out = append(out, r.Path)
		}
	}
	return out
}

// client begins at another port than the server's own as a client does, and lists the tools where the port
// speaks the protocol. Such a port is then asked as the own one is.
func (d *door) client(routes []literals.Route) {
	paths := endpointsOf(routes)
	for _, path := range paths {
		usual := request{method: http.MethodPost, path: path, body: helloBody}
		if got, ok := d.send(usual); ok && got.welcomes() {
			d.list(path, &got)
			d.checked(usual, got.status, (*reply).welcomes)
			return
		}
	}
	for _, path := range paths {
		usual := request{method: http.MethodGet, path: path}
		listing := usual
		listing.heard = d.listOlder()
		if got, ok := d.send(listing); ok && got.welcomes() {
			d.checked(usual, got.status, (*reply).welcomes)
			return
		}
	}
}

// list goes on in a session that a server has begun.
func (d *door) list(path string, begun *reply) {
	header := ""
	if id := begun.header.Get("Mcp-Session-Id"); id != "" && len(id) <= maxSessionID && !strings.ContainsFunc(id, func(r rune) bool { return r < '!' || r > '~' }) {
		header += "Mcp-Session-Id: " + id + "\r\n"
	}
	if version := versionSaid.FindSubmatch(begun.body); version != nil {
		header += "MCP-Protocol-Version: " + string(version[1]) + "\r\n"
	}
	for _, body := range []string{initializedBody, listBody} {
		d.send(request{method: http.MethodPost, path: path, header: header, body: body})
	}
	d.spoken = path
}

// listOlder is what a client of the older transport does with its stream: it says all to the path that the stream
// names, and reads the answers from the stream.
func (d *door) listOlder() func(raw []byte) (done bool) {
	begun := false
	return func(raw []byte) bool {
		got, ok := replyOf(raw)
		if !ok {
			return false
		}
		if begun {
			return bytes.Contains(bytes.ReplaceAll(got.body, []byte(" "), nil), []byte(listID))
		}
		said := endpointSaid.FindSubmatch(got.body)
		if said == nil {
			return false
		}
		begun = true
		// An address may name this port by any host: only its path counts.
		to, err := url.Parse(string(said[1]))
		if err != nil || !strings.HasPrefix(to.Path, "/") {
			return true
		}
		for _, body := range []string{helloBody, initializedBody, listBody} {
			d.send(request{method: http.MethodPost, path: to.RequestURI(), body: body})
		}
		d.spoken = to.Path
		return false
	}
}
