package registry

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// maxError bounds the body of an answer that is an error, and maxQuestion what git
	// asks in a POST, in bytes.
	maxError    = 64 << 10
	maxQuestion = 16 << 20
	copySize    = 64 << 10
	// maxReaders bounds the pages that are read for links at once, as a page's largest
	// value is held in memory.
	maxReaders = 2
)

var (
	errTooLarge = errors.New("the registry's answer is larger than is allowed")
	errTotal    = errors.New("the registries' answers are larger together than is allowed")
	errDigest   = errors.New("the archive does not have the digest that its index names")
	errOffline  = errors.New("no registry is asked (--offline), and the cache has no answer: coalmine prepare brings one")
	errClient   = errors.New("the client does not take the answer")
)

// exchange is one request of a client under way.
type exchange struct {
	p      *Proxy
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context
	cancel context.CancelCauseFunc
	access *access
}

// serve checks a request for an absolute address and answers it.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request, target *url.URL) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(p.limits.Request + p.limits.Stall))
	if !p.report.request(p.limits.Requests) {
		p.report.refused("", "", "more requests than are allowed")
		refuse(w, http.StatusServiceUnavailable, "more requests than are allowed")
		return
	}
	u, err := canonical(target)
	if err != nil {
		reason := "the request names " + err.Error()
		p.report.refused(target.Host, target.EscapedPath(), reason)
		refuse(w, http.StatusBadRequest, reason)
		return
	}
	if real := p.real(u.Host); real != u.Host {
		u.Host = real
	}
	x, err := p.allow.check(r.Method, u)
	if err == nil && r.Method != http.MethodPost && r.ContentLength != 0 {
		err = &refusal{"a request for an answer has a body"}
	}
	if err != nil {
		p.report.refused(u.Host, u.EscapedPath(), err.Error())
		refuse(w, http.StatusForbidden, err.Error())
		return
	}
	select {
	case p.slots <- struct{}{}:
		defer func() { <-p.slots }()
	case <-r.Context().Done():
		return
	}
	ctx, stop := context.WithTimeout(r.Context(), p.limits.Request)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e := &exchange{p: p, w: w, r: r, ctx: ctx, cancel: cancel, access: x}
	if err := e.answer(); err != nil {
		e.fail(err)
	}
}

// unsentError is a failure before anything was sent to the client.
type unsentError struct{ error }

func (u *unsentError) Unwrap() error { return u.error }

// fail reports a failure, and tells the client where it still can.
func (e *exchange) fail(err error) {
	u := e.access.url
	var no *refusal
	var unsent *unsentError
	isUnsent := errors.As(err, &unsent)
	switch {
	case e.r.Context().Err() != nil, errors.Is(err, errClient): // the client has gone, or the proxy is closed
		panic(http.ErrAbortHandler)
	case errors.As(err, &no) || errors.Is(err, errInternal):
		reason := internalHint
		if no != nil {
			reason = no.reason
		}
		e.p.report.refused(u.Host, u.EscapedPath(), reason)
		refuse(e.w, http.StatusForbidden, reason)
	case errors.Is(err, errDigest):
		e.p.report.failed(u.Host, u.EscapedPath(), err.Error())
		panic(http.ErrAbortHandler) // so that what was sent is no whole answer
	case errors.Is(err, errOffline):
		e.p.report.failed(u.Host, u.EscapedPath(), err.Error())
		refuse(e.w, http.StatusGatewayTimeout, err.Error())
	case isUnsent:
		e.p.report.unreached(u.Host, u.EscapedPath(), plain(err))
		refuse(e.w, http.StatusBadGateway, plain(err))
	default:
		e.p.report.unreached(u.Host, u.EscapedPath(), plain(err))
		panic(http.ErrAbortHandler)
	}
}

// archive are the ends of names of files that do not change.
var archive = regexp.MustCompile(`\.(?:tgz|tar\.gz|tar\.bz2|tar\.xz|tar|zip|whl|egg|metadata|mod|info)$`)

// isArchive reports whether an answer is passed on as it comes, rather than read for links.
func (x *access) isArchive() bool {
	switch {
	case x.registry == nil, x.linked && x.digest.sum != "":
		return true
	case x.registry.role == rolePackuments: // a package may be called "x.info"
		return strings.Contains(x.url.Path, "/-/")
	}
	return x.registry.role == roleFiles || archive.MatchString(x.url.Path)
}

// immutable reports whether a kept answer is taken without asking the registry again.
func (x *access) immutable() bool {
	if x.digest.sum != "" {
		return true
	}
	role := rolePackuments
	if x.registry != nil {
		role = x.registry.role
	}
	name := path.Base(x.url.Path)
	switch role {
	case roleModules: // "go help goproxy": a version never changes
		return strings.Contains(x.url.Path, "/@v/") && archive.MatchString(name)
	case roleSums:
		return strings.Contains(x.url.Path, "/tile/")
	case roleFiles: // a public index never replaces a file
		return slices.Contains(slices.Collect(maps.Values(publicFiles)), shown(x.registry.URL)) && archive.MatchString(name)
	}
	return false
}

func (e *exchange) cacheKey() string {
	x := e.access
	accept := ""
	if !x.isArchive() {
		accept = e.r.Header.Get("Accept")
	}
	return cacheKey(key(x.url), accept, x.credential.fingerprint())
}

// answer answers the request from the cache or the registry.
func (e *exchange) answer() error {
	x := e.access
	if e.dates() {
		e.r.Header.Set("Accept", pep691)
	}
	cacheable := e.r.Method == http.MethodGet && (x.registry == nil || x.registry.role != roleRepository)
	var have *found
	if cacheable {
		if have = e.p.cache.find(e.cacheKey(), x.digest); have != nil {
			defer have.close()
			if e.p.offline || x.immutable() || time.Now().Before(have.Fresh) {
				return e.sendStored(have)
			}
		}
	}
	if e.p.offline {
		return &unsentError{errOffline}
	}
	resp, err := e.send(have)
	if err != nil {
		return &unsentError{err}
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.location != nil {
		return e.sendRedirect(resp)
	}
	if resp.StatusCode == http.StatusNotModified && have != nil {
		return e.sendStored(have)
	}
	body := newStallReader(e.ctx, resp.Body, e.p.limits.Stall, e.cancel)
	defer body.stop()
	switch {
	case resp.StatusCode != http.StatusOK:
		return e.sendError(resp, body)
	case !cacheable:
		e.header(stored{Type: resp.Header.Get("Content-Type"), Encoding: resp.Header.Get("Content-Encoding")}, resp.ContentLength)
		return e.copy(body, e.p.limits.Artifact, e.client())
	case x.isArchive():
		return e.sendArchive(resp, body)
	}
	return e.sendPage(resp, body)
}

// forwarded are the headers of a client that a registry gets.
var forwarded = []string{"Accept", "User-Agent", "Git-Protocol"}

// send sends the request to the registry; have is what the cache has of it.
func (e *exchange) send(have *found) (*answer, error) {
	h := http.Header{"User-Agent": {"coalmine"}}
	for _, name := range forwarded {
		if v := e.r.Header.Get(name); v != "" && len(v) < 1<<10 && safeValue(v) {
			h.Set(name, v)
		}
	}
	x := e.access
	if x.isArchive() || e.r.Method != http.MethodGet {
		h.Set("Accept-Encoding", "identity") // the digest is that of the file as it is
	}
	if have != nil {
		setUnless(h, "If-None-Match", have.ETag)
		setUnless(h, "If-Modified-Since", have.LastModified)
	}
	var body io.Reader
	if e.r.Method == http.MethodPost {
		for _, name := range []string{"Content-Type", "Content-Encoding"} {
			setUnless(h, name, e.r.Header.Get(name))
		}
		body = http.MaxBytesReader(e.w, e.r.Body, maxQuestion)
	}
	// The client follows a redirect within its registry itself, as links of a page are
	// relative to the page's own address.
	within := func(next *url.URL) bool {
		return x.registry != nil && below(next, x.registry.URL) && key(next) != key(x.url)
	}
	return e.p.upstream.roundTrip(e.ctx, e.r.Method, x, h, body, within)
}

func setUnless(h http.Header, name, value string) {
	if value != "" && safeValue(value) {
		h.Set(name, value)
	}
}

// header sends the head of a good answer; length is -1 where it is unknown.
func (e *exchange) header(s stored, length int64) {
	h := e.w.Header()
	setUnless(h, "Content-Type", s.Type)
	setUnless(h, "Content-Encoding", s.Encoding)
	setUnless(h, "ETag", s.ETag)
	setUnless(h, "Last-Modified", s.LastModified)
	h.Set("X-Content-Type-Options", "nosniff")
	if length >= 0 {
		h.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	e.w.WriteHeader(http.StatusOK)
}

// client writes to the client, who may not stall either.
func (e *exchange) client() io.Writer {
	if e.r.Method == http.MethodHead {
		return io.Discard
	}
	control := http.NewResponseController(e.w)
	return writerFunc(func(p []byte) (int, error) {
		_ = control.SetWriteDeadline(time.Now().Add(e.p.limits.Stall))
		n, err := e.w.Write(p)
		if err != nil {
			err = fmt.Errorf("%w: %w", errClient, err)
		}
		return n, err
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// copy passes at most so many bytes of a registry on.
func (e *exchange) copy(from io.Reader, most int64, to ...io.Writer) error {
	buffer := make([]byte, copySize)
	for size := int64(0); ; {
		n, err := from.Read(buffer)
		if size += int64(n); size > most {
			return errTooLarge
		}
		if !e.p.report.spend(n, e.p.limits.Total) {
			return errTotal
		}
		for _, w := range to {
			if _, err := w.Write(buffer[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// sendStored sends what the cache has, and reads it for links.
func (e *exchange) sendStored(f *found) error {
	if !e.access.isArchive() {
		if err := e.learn(f.stored, f.body()); err != nil {
			return &unsentError{err}
		}
	}
	e.p.report.cached()
	return e.pass(f.stored, f.Size, f.body())
}

// sendRedirect tells the client to follow a redirect within its registry.
func (e *exchange) sendRedirect(resp *answer) error {
	to := *resp.location
	if host := e.r.URL.Host; e.r.URL.IsAbs() && host != "" {
		to.Host = host // as the client calls it
	} else if to.Host == e.access.url.Host {
		to.Scheme, to.Host = "", ""
	}
	e.w.Header().Set("Location", shown(&to))
	refuse(e.w, resp.StatusCode, "it is elsewhere")
	return nil
}

// sendError passes a registry's refusal on.
func (e *exchange) sendError(resp *answer, body io.Reader) error {
	u, status := e.access.url, resp.StatusCode
	if status != http.StatusNotFound && status != http.StatusGone {
		reason := fmt.Sprintf("the registry answered %d %s", status, http.StatusText(status))
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			if e.access.credential == nil {
				reason += ", and you have no credential for it"
			} else {
				reason += " to the credential that you have for it"
			}
		}
		e.p.report.failed(u.Host, u.EscapedPath(), reason)
	}
	if status < 400 || status > 599 {
		return &unsentError{fmt.Errorf("the registry answered %d", status)}
	}
	setUnless(e.w.Header(), "Content-Type", resp.Header.Get("Content-Type"))
	setUnless(e.w.Header(), "Retry-After", resp.Header.Get("Retry-After"))
	e.w.Header().Set("X-Content-Type-Options", "nosniff")
	e.w.WriteHeader(status)
	err := e.copy(io.LimitReader(body, maxError), maxError, e.client())
	return err
}

func (e *exchange) describe(resp *answer) stored {
	s := stored{Key: e.cacheKey(), Type: resp.Header.Get("Content-Type"), ETag: resp.Header.Get("ETag"), LastModified: resp.Header.Get("Last-Modified")}
	if !resp.Uncompressed {
		s.Encoding = resp.Header.Get("Content-Encoding")
	}
	return s
}

// maxFresh bounds how long a page is taken without asking its registry again.
const maxFresh = 10 * time.Minute

// keeps reports whether an answer is of use later, and writes down how long it is fresh.
func (e *exchange) keeps(resp *answer, s *stored) bool {
	seconds := 0
	for directive := range strings.SplitSeq(strings.ToLower(resp.Header.Get("Cache-Control")), ",") {
		name, value, _ := strings.Cut(strings.TrimSpace(directive), "=")
		switch name {
		case "no-store":
			return false
		case "max-age":
			seconds, _ = strconv.Atoi(value)
		}
	}
	if seconds > 0 {
		s.Fresh = time.Now().Add(min(time.Duration(min(seconds, 86400))*time.Second, maxFresh))
	}
	return e.p.keep || e.access.immutable() || s.ETag != "" || s.LastModified != "" || seconds > 0
}

// sendPage reads a whole page for its links before the client sees one of them.
func (e *exchange) sendPage(resp *answer, body io.Reader) error {
	d, err := e.p.cache.create()
	if err != nil {
		return &unsentError{err}
	}
	defer d.discard()
	if err := e.copy(body, e.p.limits.Metadata, d); err != nil {
		return &unsentError{err}
	}
	s := e.describe(resp)
	if err := e.learn(s, d.body()); err != nil {
		return &unsentError{err}
	}
	if e.keeps(resp, &s) {
		if err := d.commit(s); err != nil {
			return &unsentError{err}
		}
	}
	return e.pass(s, d.size, d.body())
}

// learn allows what a page of a registry links to.
func (e *exchange) learn(s stored, body io.Reader) error {
	x := e.access
	if x.registry == nil || s.Encoding != "" || !slices.Contains([]role{rolePackuments, rolePages, roleLinks}, x.registry.role) {
		return nil
	}
	select {
	case e.p.readers <- struct{}{}:
		defer func() { <-e.p.readers }()
	case <-e.ctx.Done():
		return context.Cause(e.ctx)
	}
	var failed error
	// What is no page of links is the client's to complain about.
	_ = readLinks(body, s.Type, x.url, func(l link) {
		if err := e.p.allow.learn(x, l); err != nil {
			failed = err
		}
	})
	if failed != nil {
		e.p.report.refused(x.url.Host, x.url.EscapedPath(), failed.Error())
	}
	return nil
}

// sendArchive passes an archive on while it comes, and keeps it if it is what its index says.
func (e *exchange) sendArchive(resp *answer, body io.Reader) error {
	x := e.access
	d, err := e.p.cache.create()
	if err != nil {
		return &unsentError{err}
	}
	defer d.discard()
	if resp.ContentLength > e.p.limits.Artifact {
		return &unsentError{errTooLarge}
	}
	s := e.describe(resp)
	e.header(s, resp.ContentLength)
	to := []io.Writer{d, e.client()}
	var sum hash.Hash
	if sum = x.digest.hash(); sum != nil {
		to = append(to, sum)
	}
	if err := e.copy(body, e.p.limits.Artifact, to...); err != nil {
		return err
	}
	if sum != nil && hex.EncodeToString(sum.Sum(nil)) != x.digest.sum {
		return errDigest
	}
	if e.keeps(resp, &s) {
		return d.commit(s)
	}
	return nil
}
