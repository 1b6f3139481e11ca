package sinkhole

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"mime"
	"net"
	"net/http"
	"path"
	"strings"
	"time"
)

// page is an HTTP answer.
type page struct {
	status int
	kind   string
	body   string
	header map[string]string
}

// pageFor is the answer to a request: the user's own, the metadata service's, or
// one that most clients go on with, in the turn that is served. body is the beginning
// of the request's, as far as it was kept.
func (c *Config) pageFor(r *http.Request, host string, toMetadata bool, body []byte) page {
	if p, ok := firstReply(c.Replies, r, host); ok {
		return p
	}
	if toMetadata {
		return c.Metadata.page(r)
	}
	if p, ok := firstReply(builtInReplies(), r, host); ok {
		return p
	}
	p := c.serviceFor(r, host, body)
	p.body = c.Planted.in(p.body)
	served := c.Turning.get()
	turn := served.Turn
	if turn == TurnPage {
		return htmlPage(host, c.Planted, served.Asked)
	}
	switch {
	case asksLater(r, body):
		p.body = lastPage(p.body)
	case turn == TurnRows:
		p = c.Planted.argued(p, []any{c.Planted.argv()})
	case turn == TurnWords:
		p = c.Planted.argued(p, c.Planted.argv())
	}
	return turned(turn, p)
}

// Answer is the status and the body of the answer to a request whose own body is empty.
func (c *Config) Answer(r *http.Request) (status int, body string) {
	p := c.pageFor(r, r.Host, false, nil)
	return p.status, p.body
}

// serviceFor is what the service that a client believes to ask would answer.
func (c *Config) serviceFor(r *http.Request, host string, body []byte) page {
	fit, named := fitting(c.Fits, r, host)
	if p, ok := firstReply(serviceReplies(), r, host); ok {
		p.body = c.Planted.within(strings.ReplaceAll(p.body, "{origin}", "https://"+host))
		if named {
			p.body = joined(p.body, fit)
		}
		p.body = withAsked(p.body, r.URL.Query())
		return p
	}
	if p, ok := webDAV(r, body); ok {
		return p
	}
	if p, ok := c.Planted.script(r); ok {
		return p
	}
	if answer, ok := c.GraphQL.graphQL(graphQLRequest(r, body)); ok {
		return page{status: http.StatusOK, kind: "application/json", body: answer}
	}
	if d, ok := described(c.Fits, r); ok {
		if d.Body == "" {
			return page{status: d.Status}
		}
		if named {
			d.Body = joined(d.Body, fit)
		}
		return page{status: d.Status, kind: "application/json", body: d.Body}
	}
	switch r.Method {
	case http.MethodOptions:
		return page{status: http.StatusNoContent, header: map[string]string{
			"Allow": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "Access-Control-Allow-Origin": "*",
			"Access-Control-Allow-Methods": "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS", "Access-Control-Allow-Headers": "*",
		}}
	case http.MethodDelete:
		return page{status: http.StatusNoContent}
	case http.MethodTrace:
		return page{status: http.StatusMethodNotAllowed}
	}
	if named {
		return page{status: http.StatusOK, kind: "application/json", body: fit}
	}
	if p, ok := c.Planted.installer(r, host); ok {
		return p
	}
	if p, ok := document(r, host, c.Planted); ok {
		return p
	}
	p := byKind(r, host, c)
	if p.kind == "application/json" {
		ofCall := c.Turning.get().Fit
		p.body = joined(joined(cmp.Or(fit, ofCall, "{}"), ofCall), p.body)
	}
	return p
}

func firstReply(replies []Reply, r *http.Request, host string) (page, bool) {
	for _, p := range replies {
		if !p.matches(r, host) {
			continue
		}
		status := p.Status
		if status < 200 || status > 599 {
			status = http.StatusOK
		}
		return page{status: status, body: p.Body, header: p.headerFor(r)}, true
	}
	return page{}, false
}

// headerFor is the header with the request's path filled in.
func (p Reply) headerFor(r *http.Request) map[string]string {
	out := make(map[string]string, len(p.Header))
	for k, v := range p.Header {
		out[k] = strings.ReplaceAll(v, "{path}", r.URL.EscapedPath())
	}
	return out
}

func (p Reply) matches(r *http.Request, host string) bool {
	fits := func(pattern, s string) bool {
		if pattern == "" {
			return true
		}
		if below, ok := strings.CutSuffix(pattern, "/**"); ok {
			ok, err := path.Match(below, beginning(s, strings.Count(below, "/")))
			return err == nil && ok
		}
		ok, err := path.Match(pattern, s)
		return err == nil && ok
	}
	if strings.Contains(p.Host, ":") {
		if name, port, err := net.SplitHostPort(r.Host); err == nil {
			host = canonical(name) + ":" + port
		}
	}
	if name, value, _ := strings.Cut(p.Query, "="); name != "" && r.URL.Query().Get(name) != value {
		return false
	}
	return fits(p.Host, host) && fits(p.Path, r.URL.Path) && fits(p.Method, r.Method)
}

// beginning is a path up to the slash after so many others.
func beginning(p string, slashes int) string {
	for at := 0; ; slashes-- {
		i := strings.IndexByte(p[at:], '/')
		switch {
		case i < 0:
			return p
		case slashes == 0:
			return p[:at+i]
		}
		at += i + 1
	}
}

// byKind answers in the kind that the client asks for: by Accept, by the path's
// extension, by what the host looks like.
func byKind(r *http.Request, host string, c *Config) page {
	switch wanted(r, host) {
	case "application/json":
		body := map[string]any{"status": "ok", "success": true, "message": "OK", "id": "01HX3W9V6T2K", "data": []any{}, "items": []any{}, "results": []any{}, "total": 0}
		text, _ := json.Marshal(body)
		return page{status: http.StatusOK, kind: "application/json", body: string(text)}
	case "text/html":
		return htmlPage(host, c.Planted, c.Turning.get().Asked)
	case "application/xml":
		return page{status: http.StatusOK, kind: "application/xml", body: "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<response><status>ok</status></response>\n"}
	case "text/event-stream":
		return page{status: http.StatusOK, kind: "text/event-stream", body: "event: message\ndata: {\"status\":\"ok\"}\n\n"}
	case "text/plain":
		return page{status: http.StatusOK, kind: "text/plain; charset=utf-8", body: "ok\n"}
	}
	return page{status: http.StatusNotFound, kind: "text/plain; charset=utf-8", body: "not found\n"}
}

// htmlPage is the page of a host that says little, with what is planted, and a section for what was asked for: a
// program that looks for it in a page finds it.
func htmlPage(host string, planted *Planted, asked []string) page {
	title := host
	if title == "" || strings.ContainsAny(title, `<>&"'`) {
		title = "Home"
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title><meta name="description" content="Notes and news."></head>
<body><main><article><h1>%[1]s</h1><p>Welcome. This page has moved recently; see the <a href="/about">about page</a>.</p>
<h2 id="overview">Overview</h2><p>%s</p>
`, title, steady)
	for i, text := range asked {
		fmt.Fprintf(&b, "<h2 id=\"section-%d\">%s</h2><p>%[2]s: see the overview.</p>\n", i+1, html.EscapeString(text))
	}
	b.WriteString("<h2 id=\"start\">Getting started</h2>" + planted.paragraphs() + "</article></main></body></html>\n")
	return page{status: http.StatusOK, kind: "text/html; charset=utf-8", body: b.String()}
}

var kinds = map[string]string{
	"application/json": "application/json", "text/html": "text/html", "application/xhtml+xml": "text/html", "text/plain": "text/plain",
	"text/*": "text/plain", "application/xml": "application/xml", "text/xml": "application/xml", "text/event-stream": "text/event-stream",
	".json": "application/json", ".html": "text/html", ".htm": "text/html", ".txt": "text/plain", ".xml": "application/xml",
	".zip": "none", ".gz": "none", ".tgz": "none", ".whl": "none", ".exe": "none", ".wasm": "none", ".js": "none", ".css": "none",
}

func wanted(r *http.Request, host string) string {
	for a := range strings.SplitSeq(strings.Join(r.Header.Values("Accept"), ","), ",") {
		kind, _, err := mime.ParseMediaType(a)
		if err != nil {
			continue
		}
		if strings.HasSuffix(kind, "+json") {
			return "application/json"
		}
		if k, ok := kinds[kind]; ok {
			return k
		}
	}
	if k, ok := kinds[strings.ToLower(path.Ext(r.URL.Path))]; ok {
		return k
	}
	api := strings.HasPrefix(host, "api.") || strings.Contains(r.URL.Path, "/api") || strings.HasPrefix(r.URL.Path, "/v1") || strings.HasPrefix(r.URL.Path, "/v2")
	if api || r.Method != http.MethodGet && r.Method != http.MethodHead || strings.Contains(r.Header.Get("Content-Type"), "json") {
		return "application/json"
	}
	return "text/html"
}

// write sends the answer.
func (p page) write(w http.ResponseWriter, head bool) {
	h := w.Header()
	h.Set("Server", "nginx")
	if p.kind != "" {
		h.Set("Content-Type", p.kind)
	}
	for k, v := range p.header {
		h.Set(k, v)
	}
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	w.WriteHeader(p.status)
	if !head && p.status != http.StatusNoContent && p.status != http.StatusNotModified {
		_, _ = w.Write([]byte(p.body))
	}
}
