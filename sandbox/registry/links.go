package registry

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// maxLinks bounds the links that are kept of all answers.
const maxLinks = 400_000

// digest is what an index says of an archive: an algorithm and its sum in hex. The
// zero value says nothing.
type digest struct{ algorithm, sum string }

// algorithms are those that are checked, the strongest first.
var algorithms = []string{"sha512", "sha384", "sha256", "sha1", "md5"}

func (d digest) hash() hash.Hash {
	switch d.algorithm {
	case "sha512":
		return sha512.New()
	case "sha384":
		return sha512.New384()
	case "sha256":
		return sha256.New()
	case "sha1":
		return sha1.New()
	case "md5":
		return md5.New()
	}
	return nil
}

func newDigest(algorithm, sum string) digest {
	d := digest{strings.ToLower(algorithm), strings.ToLower(sum)}
	if raw, err := hex.DecodeString(d.sum); err != nil || d.hash() == nil || len(raw) != d.hash().Size() {
		return digest{}
	}
	return d
}

// strongest is the best of several digests.
func strongest(list []digest) digest {
	for _, a := range algorithms {
		for _, d := range list {
			if d.algorithm == a {
				return d
			}
		}
	}
	return digest{}
}

// integrity reads Subresource Integrity, as npm has it: "sha512-BASE64 …".
func integrity(s string) digest {
	var all []digest
	for word := range strings.FieldsSeq(s) {
		algorithm, sum, _ := strings.Cut(word, "-")
		sum, _, _ = strings.Cut(sum, "?")
		if raw, err := base64.StdEncoding.DecodeString(sum); err == nil {
			all = append(all, newDigest(algorithm, hex.EncodeToString(raw)))
		}
	}
	return strongest(all)
}

// link is what an index page links to.
type link struct {
	url    *url.URL
	digest digest
	// metadata says that a file ".metadata" lies beside it: PEP 658.
	metadata bool
}

// links are what the answers of registries link to, by key.
type links struct {
	mu    sync.Mutex
	known map[string]linked
	hosts map[string]bool
}

// linked is what is known of a link: its digest, and the tool whose index has it.
type linked struct {
	digest digest
	tool   Tool
}

func newLinks() *links { return &links{known: map[string]linked{}, hosts: map[string]bool{}} }

// add takes a link in; full reports that no more are kept.
func (l *links) add(u *url.URL, t Tool, d digest) (full bool) {
	k := key(u)
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.known[k]; !ok && len(l.known) >= maxLinks {
		return true
	}
	l.known[k], l.hosts[u.Host] = linked{d, t}, true
	return false
}

func (l *links) find(u *url.URL) (linked, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	d, ok := l.known[key(u)]
	return d, ok
}

// hasHost reports whether some link leads to a host.
func (l *links) hasHost(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hosts[host]
}

// errUnread says that an answer is no page of links.
var errUnread = errors.New("the answer cannot be read for links")

// readLinks reads an answer of a registry and calls f for each of its links. contentType
// is the answer's, base its address as the client knows it.
func readLinks(r io.Reader, contentType string, base *url.URL, f func(link)) error {
	kind := mediaType(contentType)
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return jsonLinks(r, base, f)
	case kind == "text/html" || strings.HasSuffix(kind, "+html"):
		return htmlLinks(r, base, f)
	}
	return nil
}

// mediaType is a Content-Type without its parameters, in small letters.
func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	return strings.TrimSpace(kind)
}

// jsonLinks reads a packument of npm's and a page of PEP 691, member by member.
func jsonLinks(r io.Reader, base *url.URL, f func(link)) error {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return errUnread
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return errUnread
		}
		switch name {
		case "versions":
			err = eachMember(d, func() error {
				var v struct{ Dist npmDist }
				err := decode(d, &v)
				v.Dist.link(base, f)
				return err
			})
		case "dist":
			var dist npmDist
			err = decode(d, &dist)
			dist.link(base, f)
		case "files":
			err = eachMember(d, func() error {
				var file pypiFile
				err := decode(d, &file)
				file.link(base, f)
				return err
			})
		default:
			err = decode(d, &json.RawMessage{})
		}
		if err != nil {
			return errUnread
		}
	}
	return nil
}

// decode reads one value; what is of another type is left out.
func decode(d *json.Decoder, v any) error {
	err := d.Decode(v)
	var typed *json.UnmarshalTypeError
	if errors.As(err, &typed) {
		return nil
	}
	return err
}

// eachMember calls f at each value of an object or an array; another value is skipped.
func eachMember(d *json.Decoder, f func() error) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	delim, ok := open.(json.Delim)
	if !ok {
		return nil
	}
	for d.More() {
		if delim == '{' {
			if _, err := d.Token(); err != nil {
				return err
			}
		}
		if err := f(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

type npmDist struct{ Tarball, Integrity, Shasum string }

func (n npmDist) link(base *url.URL, f func(link)) {
	if n.Tarball == "" {
		return
	}
	d := integrity(n.Integrity)
	if d.sum == "" {
		d = newDigest("sha1", n.Shasum)
	}
	resolve(base, n.Tarball, f, link{digest: d})
}

type pypiFile struct {
	URL      string            `json:"url"`
	Hashes   map[string]string `json:"hashes"`
	Core     json.RawMessage   `json:"core-metadata"`
	DistInfo json.RawMessage   `json:"dist-info-metadata"`
}

func (p pypiFile) link(base *url.URL, f func(link)) {
	var all []digest
	for algorithm, sum := range p.Hashes {
		all = append(all, newDigest(algorithm, sum))
	}
	given := func(m json.RawMessage) bool { return len(m) > 0 && string(m) != "false" && string(m) != "null" }
	resolve(base, p.URL, f, link{digest: strongest(all), metadata: given(p.Core) || given(p.DistInfo)})
}

// resolve completes a link whose address is relative to base. "#sha256=…" of the
// address is a digest: PEP 503.
func resolve(base *url.URL, address string, f func(link), l link) {
	if address == "" || len(address) > maxAddress {
		return
	}
	ref, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return
	}
	if algorithm, sum, ok := strings.Cut(ref.Fragment, "="); ok && l.digest.sum == "" {
		sum, _, _ = strings.Cut(sum, "&")
		l.digest = newDigest(algorithm, sum)
	}
	u, err := canonical(base.ResolveReference(ref))
	if err != nil {
		return
	}
	l.url = u
	f(l)
}

// maxToken bounds a tag of a page, in bytes.
const maxToken = 1 << 20

// htmlLinks reads the anchors of a page of PEP 503.
func htmlLinks(r io.Reader, base *url.URL, f func(link)) error {
	z := html.NewTokenizer(r)
	z.SetMaxBuf(maxToken)
	for {
		switch z.Next() {
		case html.ErrorToken:
			if errors.Is(z.Err(), io.EOF) {
				return nil
			}
			return errUnread
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			switch t.Data {
			case "base":
				if ref, err := url.Parse(strings.TrimSpace(attribute(t, "href"))); err == nil {
					base = base.ResolveReference(ref)
				}
			case "a":
				has := func(name string) bool {
					return slices.ContainsFunc(t.Attr, func(a html.Attribute) bool { return a.Key == name && a.Val != "false" })
				}
				resolve(base, attribute(t, "href"), f, link{metadata: has("data-core-metadata") || has("data-dist-info-metadata")})
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}
