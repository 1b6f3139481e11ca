package main

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"mime/multipart"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
)

// payload is what is sent: in pieces, with what a header says of it.
type payload struct {
	how    string
	pieces [][]byte
	header map[string]string
	target string // of a request, where it is not path's own
}

func cut(b []byte, n int) [][]byte { return slices.Collect(slices.Chunk(b, n)) }

// each writes every byte by a format.
func each(raw []byte, format string) []byte {
	var out []byte
	for _, b := range raw {
		out = fmt.Appendf(out, format, b)
	}
	return out
}

func encode(s, how string) (payload, error) {
	raw := []byte(s)
	p := payload{how: how, header: map[string]string{"Content-Type": "text/plain"}}
	whole, err := p.whole(raw)
	if err != nil {
		return p, err
	}
	switch how {
	case "writes", "chunks", "parameters":
		p.pieces = cut(raw, 11)
	case "labels":
		p.pieces = [][]byte{bytes.Join(cut([]byte(hex.EncodeToString(raw)), 20), []byte("."))}
	case "queries":
		for i, c := range cut([]byte(hex.EncodeToString(raw)), 16) {
			p.pieces = append(p.pieces, fmt.Appendf(nil, "%d.%s", i, c))
		}
	default:
		p.pieces = [][]byte{whole}
	}
	return p, nil
}

// whole encodes all bytes as one piece.
func (p *payload) whole(raw []byte) ([]byte, error) {
	name, offset, _ := strings.Cut(p.how, ".")
	n, _ := strconv.Atoi(offset)
	shifted := append(bytes.Repeat([]byte("x"), n), raw...)
	switch name {
	case "hex":
		out := []byte(hex.EncodeToString(raw))
		for i := range out {
			if i%3 > 0 {
				out[i] = bytes.ToUpper(out[i : i+1])[0]
			}
		}
		return out, nil
	case "base32":
		return []byte(base32.StdEncoding.EncodeToString(raw)), nil
	case "base64":
		return []byte(base64.StdEncoding.EncodeToString(shifted)), nil
	case "base64url":
		return []byte(base64.URLEncoding.EncodeToString(shifted)), nil
	case "percent":
		return each(raw, "%%%02x"), nil
	case "entities":
		return each(raw, "&#%d;"), nil
	case "json":
		return each(raw, `\u%04x`), nil
	case "reversed":
		slices.Reverse(shifted)
		return shifted, nil
	case "rot13":
		return bytes.Map(rot13, raw), nil
	case "gzip", "deflate", "brotli":
		return p.packed(raw, name)
	case "multipart":
		return p.parts(raw)
	}
	return raw, nil
}

func rot13(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a' + (r-'a'+13)%26
	case r >= 'A' && r <= 'Z':
		return 'A' + (r-'A'+13)%26
	}
	return r
}

func (p *payload) packed(raw []byte, name string) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	switch name {
	case "gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	default:
		// A short text would be stored as it is.
		filler := make([]byte, 1500)
		_, _ = rand.Read(filler)
		w, name, raw = brotli.NewWriter(&out), "br", append([]byte(base64.StdEncoding.EncodeToString(filler)), raw...)
	}
	p.header["Content-Encoding"] = name
	if _, err := w.Write(raw); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

func (p *payload) parts(raw []byte) ([]byte, error) {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err := w.SetBoundary("7c1d0a52f3"); err != nil { // its own would fill a name
		return nil, err
	}
	if err := w.WriteField("f", string(raw)); err != nil {
		return nil, err
	}
	p.header["Content-Type"] = w.FormDataContentType()
	err := w.Close()
	return out.Bytes(), err
}

// get says that the payload is in the URL.
func (p payload) get() bool { return p.how == "parameters" }

// path is the target of a request.
func (p payload) path() string {
	if p.target != "" {
		return p.target
	}
	if !p.get() {
		return "/collect"
	}
	q := url.Values{}
	for i, b := range p.pieces {
		q.Set(fmt.Sprintf("p%d", i), string(b))
	}
	return "/collect?" + q.Encode()
}

// body reads one piece at a time, so that each can be a chunk or a write of its own.
type body struct{ pieces [][]byte }

// Read implements io.Reader.
func (b *body) Read(to []byte) (int, error) {
	if len(b.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(to, b.pieces[0])
	if b.pieces[0] = b.pieces[0][n:]; len(b.pieces[0]) == 0 {
		b.pieces = b.pieces[1:]
	}
	return n, nil
}

func (p payload) size() int64 {
	n := 0
	for _, b := range p.pieces {
		n += len(b)
	}
	return int64(n)
}
