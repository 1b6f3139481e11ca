package canaries

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"pgregory.net/rapid"
)

// packed writes what it is given through a packer.
func packed(pack func(io.Writer) io.WriteCloser, b []byte) []byte {
	var out bytes.Buffer
	w := pack(&out)
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

func gzipped(b []byte) []byte {
	return packed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, b)
}

func zlibbed(b []byte) []byte {
	return packed(func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, b)
}

func deflated(b []byte) []byte {
	return packed(func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 6); return f }, b)
}

func brotlied(b []byte) []byte {
	return packed(func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }, b)
}

func chunked(b []byte, n int) []byte {
	return append(packed(func(w io.Writer) io.WriteCloser {
		c := httputil.NewChunkedWriter(w)
		for len(b) > n {
			_, _ = c.Write(b[:n])
			b = b[n:]
		}
		_, _ = c.Write(b)
		return c
	}, nil), "\r\n"...)
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	w, _ := z.Create("notes.txt")
	_, _ = w.Write(b)
	_ = z.Close()
	return out.Bytes()
}

func multiparted(parts []string) []byte {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	_ = w.SetBoundary("b0")
	for i, p := range parts {
		part, _ := w.CreateFormField(fmt.Sprint("f", i))
		_, _ = part.Write([]byte(p))
	}
	_ = w.Close()
	return out.Bytes()
}

// bodies are how a body may be sent, and what its header then says.
var bodies = map[string]struct {
	write  func([]byte) []byte
	header http.Header
}{
	"gzip":                {gzipped, http.Header{"Content-Encoding": {"gzip"}}},
	"deflate":             {zlibbed, http.Header{"Content-Encoding": {"deflate"}}},
	"bare deflate":        {deflated, http.Header{"content-encoding": {"Deflate"}}},
	"br":                  {brotlied, http.Header{"Content-Encoding": {"br"}}},
	"gzip, br":            {func(b []byte) []byte { return brotlied(gzipped(b)) }, http.Header{"Content-Encoding": {"gzip, br"}}},
	"gzip, no header":     {gzipped, nil},
	"zlib, no header":     {zlibbed, nil},
	"zip":                 {zipped, nil},
	"multipart with gzip": {func(b []byte) []byte { return append([]byte("--x\r\nContent-Type: a/b\r\n\r\n"), gzipped(b)...) }, nil},
	"gzip in gzip":        {func(b []byte) []byte { return gzipped(gzipped(b)) }, nil},
	"gzip in base64": {func(b []byte) []byte {
		return fmt.Appendf(nil, `{"d":"%s"}`, base64.StdEncoding.EncodeToString(gzipped(b)))
	}, nil},
	"gzip in base64url":  {func(b []byte) []byte { return []byte(base64.RawURLEncoding.EncodeToString(gzipped(b))) }, nil},
	"chunked":            {func(b []byte) []byte { return chunked(b, 5) }, http.Header{"Transfer-Encoding": {"chunked"}}},
	"chunked gzip":       {func(b []byte) []byte { return chunked(gzipped(b), 9) }, http.Header{"Transfer-Encoding": {"gzip, chunked"}, "Content-Encoding": {"gzip"}}},
	"chunked, no header": {func(b []byte) []byte { return chunked(b, 3) }, nil},
	"gzip of base64":     {func(b []byte) []byte { return gzipped([]byte(base64.StdEncoding.EncodeToString(b))) }, nil},
	"multipart, base64": {func(b []byte) []byte {
		return multiparted([]string{"x", base64.StdEncoding.EncodeToString(b)})
	}, http.Header{"Content-Type": {"multipart/form-data; boundary=b0"}}},
	"multipart in pieces": {func(b []byte) []byte { return multiparted(cut(string(b), 9)) }, http.Header{"Content-Type": {"multipart/form-data; boundary=b0"}}},
	"multipart in pieces, chunked": {func(b []byte) []byte { return chunked(multiparted(cut(string(b), 11)), 13) }, http.Header{
		"Content-Type": {"multipart/mixed; boundary=b0"}, "Transfer-Encoding": {"chunked"},
	}},
	"form in pieces": {func(b []byte) []byte {
		var out []string
		for i, p := range cut(string(b), 7) {
			out = append(out, fmt.Sprintf("f%d=%s", i, url.QueryEscape(p)))
		}
		return []byte(strings.Join(out, "&"))
	}, http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=utf-8"}}},
	"br in pieces of a writer": {func(b []byte) []byte {
		return packed(func(w io.Writer) io.WriteCloser {
			z := brotli.NewWriter(w)
			for _, p := range cut(string(b), 5) {
				_, _ = z.Write([]byte(p))
				_ = z.Flush()
			}
			return z
		}, nil)
	}, http.Header{"Content-Encoding": {"br"}}},
	"a header that is not": {func(b []byte) []byte { return b }, http.Header{"Content-Encoding": {"identity"}}},
}

func TestFindBody(t *testing.T) {
	scale.Checks(t, 20)
	s := shared()
	for name, body := range bodies {
		rapid.Check(t, func(t *rapid.T) {
			c := drawCanary(t, s)
			before := rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "before")
			text := append(append(before, c.Value...), " after"...)
			hits, err := s.FindBody(body.write(text), body.header)
			if err != nil || !has(hits, c.ID) {
				t.Fatalf("%s: %s: %v, %v", name, c.ID, hits, err)
			}
		})
	}
	c := byID(t, s, "history-mysql")
	for coding, body := range map[string][]byte{"deflate": deflated([]byte(strings.Repeat("a line, ", 9) + c.Value)), "reversed+deflate": backwards(deflated([]byte(strings.Repeat("a line, ", 9) + c.Value)))} {
		if hits, err := s.FindBody(body, nil); err != nil || len(hits) != 1 || hits[0].Encoding != coding {
			t.Errorf("%s: %v, %v", coding, hits, err)
		}
	}
	hits, err := s.FindBody(gzipped([]byte("0123"+c.Value)), nil)
	if want := []Hit{{c.ID, "gzip", 4}}; err != nil || !slices.Equal(hits, want) {
		t.Errorf("got %v, %v, want %v", hits, err, want)
	}
}

func TestFindBodyIsOpaque(t *testing.T) {
	s := shared()
	for name, coding := range map[string]string{"unknown": "zstd", "not gzip": "gzip", "not deflate": "deflate"} {
		if _, err := s.FindBody([]byte("\xff\xfe plain text"), http.Header{"Content-Encoding": {coding}}); !errors.Is(err, ErrOpaque) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.FindBody(nil, http.Header{"Content-Encoding": {"deflate"}}); err != nil {
		t.Errorf("no body: %v", err)
	}
	if hits, err := s.FindBody(noise(1<<20, 3), nil); hits != nil || err != nil && !errors.Is(err, ErrOpaque) {
		t.Errorf("noise: %v, %v", hits, err)
	}
}

// A small body that unpacks to a gigabyte takes neither its memory nor its time.
func TestFindBodyBomb(t *testing.T) {
	s := shared()
	c := byID(t, s, "aws-secret")
	zeros := make([]byte, 1<<20)
	for coding, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriterLevel(w, 1) },
	} {
		bomb := packed(func(w io.Writer) io.WriteCloser {
			z := pack(w)
			_, _ = z.Write([]byte(c.Value))
			for range 72 {
				_, _ = z.Write(zeros)
			}
			return z
		}, nil)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		hits, err := s.FindBody(bomb, http.Header{"Content-Encoding": {coding}})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrOpaque) || !has(hits, c.ID) {
			t.Errorf("%s: got %v, %v", coding, hits, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 32<<20 {
			t.Errorf("%s: %d bytes were allocated", coding, used)
		}
	}
}

// What repeats in a packed stream is not searched again; what stands behind it, before it and
// across its ends is.
func TestRepeatsInAStream(t *testing.T) {
	t.Parallel()
	s := shared()
	c := byID(t, s, "aws-secret")
	zeros := make([]byte, 20*pieceSize)
	half := len(c.Value) / 2
	for name, parts := range map[string][]string{
		"before":             {c.Value, string(zeros)},
		"behind":             {string(zeros), c.Value, "x"},
		"between":            {string(zeros), c.Value, string(zeros)},
		"across a piece":     {string(zeros[half:]), c.Value, string(zeros)},
		"across the last":    {string(zeros[half:]), c.Value},
		"in what repeats":    {strings.Repeat(c.Value+string(zeros[:pieceSize-len(c.Value)]), 9)},
		"across what does":   {strings.Repeat(c.Value[half:]+string(zeros[:pieceSize-len(c.Value)])+c.Value[:half], 9)},
		"other in the midst": {string(zeros), strings.Repeat("y", pieceSize), c.Value, string(zeros)},
	} {
		body := packed(func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, []byte(strings.Join(parts, "")))
		if hits, err := s.FindBody(body, nil); err != nil || !has(hits, c.ID) {
			t.Errorf("%s: got %v, %v", name, hits, err)
		}
	}
}

func FuzzFindBody(f *testing.F) {
	s := shared()
	c := byID(f, s, "aws-secret")
	for _, body := range bodies {
		f.Add(body.write([]byte(c.Value)), "gzip", "chunked", "multipart/mixed; boundary=b0")
	}
	f.Fuzz(func(t *testing.T, b []byte, content, transfer, kind string) {
		hits, _ := s.FindBody(b, http.Header{"Content-Encoding": {content}, "Transfer-Encoding": {transfer}, "Content-Type": {kind}})
		for _, h := range s.Find(b) {
			if !slices.ContainsFunc(hits, func(g Hit) bool { return g.ID == h.ID && g.Encoding == h.Encoding }) {
				t.Fatalf("%v is in the body, and not in %v", h, hits)
			}
		}
	})
}
