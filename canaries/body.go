package canaries

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"mime"
	"mime/multipart"
	"net/http/httputil"
	"strings"

	"github.com/andybalholm/brotli"
)

// ErrOpaque says that a part of a body could not be read: what FindBody did not
// find may still be there.
var ErrOpaque = errors.New("canaries: a part of the body cannot be read")

const (
	// maxUnpacked bounds what is unpacked of one body, all layers together.
	maxUnpacked = 64 << 20
	// maxHeld bounds what is kept of each unpacked stream, to look for another
	// packed one in it.
	maxHeld = 1 << 20
	// maxLayers bounds how deep packed streams are looked for in packed streams.
	maxLayers = 3
	// maxTries bounds how often something is taken for a packed stream.
	maxTries = 1024
	// maxURLs bounds the bytes of URLs in URLs that are looked at.
	maxURLs = 4 * maxHeld
)

// FindBody says which canaries are in the body of an HTTP message, also where
// it is chunked or packed as its header says, and in packed streams that are in
// it without a word: gzip, zlib, ZIP and bzip2, also gzip and zlib in base 64, and deflate where it is the whole body, in either order;
// over the fields of a form and the parts of a multipart body, and over the
// parameters of URLs that stand in it. The offset of what is found in a packed
// stream is counted in that, without pieces that only repeat, and over fields, parts or URLs it is the index of the
// first. The error is
// ErrOpaque, with the hits so far, for what the header calls packed and cannot
// be unpacked, for what would be more than 64 MiB, and for what holds more starts
// of packed streams than are tried.
func (s *Set) FindBody(b []byte, header map[string][]string) ([]Hit, error) {
	u := &unpacker{collector: collector{set: s}, left: maxUnpacked}
	u.report("", s.Find(b))
	body, name := b, ""
	if values := fields(header, "Transfer-Encoding"); len(values) > 0 && values[len(values)-1] == "chunked" {
		// What was cut short, or needs no chunks any more, is looked at as it is.
		if plain, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(b))); len(plain) > 0 || err == nil {
			body, name = plain, "chunked"
			u.report(name, s.Find(body))
		}
	}
	u.search(body, name, 1)
	u.bare(body, name)
	u.declared(body, name, fields(header, "Content-Encoding"))
	u.report(name, s.findFields(body[:min(len(body), maxHeld)], header))
	u.report(name, s.FindURLs(urlsIn(body[:min(len(body), maxHeld)])))
	return u.hits(), u.err
}

// findFields looks for canaries over the fields of a form or the parts of a
// multipart body, as its header says.
func (s *Set) findFields(b []byte, header map[string][]string) []Hit {
	kind, params := "", map[string]string(nil)
	for key, values := range header {
		if strings.EqualFold(key, "Content-Type") && len(values) > 0 {
			kind, params, _ = mime.ParseMediaType(values[0])
		}
	}
	c := collector{set: s, name: "parts"}
	switch {
	case kind == "application/x-www-form-urlencoded":
		c.name = "parameters"
		var pieces []string
		formValues(string(b), func(_ int, _, raw, _ string) { pieces = append(pieces, raw) })
		c.join(number(pieces), true)
	case strings.HasPrefix(kind, "multipart/") && params["boundary"] != "":
		var pieces []string
		parts := multipart.NewReader(bytes.NewReader(b), params["boundary"])
		for len(pieces) < maxTries {
			part, err := parts.NextRawPart()
			if err != nil {
				break // what is no part was looked at with the whole
			}
			text, _ := io.ReadAll(part) // one that was cut short as far as it goes
			pieces = append(pieces, string(text))
		}
		c.join(number(pieces), true)
	}
	return c.hits()
}

// ampersands are the ways in which a text has them.
var ampersands = strings.NewReplacer(`\u0026`, "&", "&amp;", "&")

// urlsIn are the URLs with parameters that stand in a text. One may stand in
// another's parameters; where the outer one ends, all of them do, so that each
// byte is looked at once for that.
func urlsIn(b []byte) []string {
	const scheme = "://"
	var out []string
	end, query := 0, 0 // where the URL ends, and the next question mark
	size := 0          // of those that were found
	for from := 0; len(out) < maxTries && size < maxURLs; {
		n := bytes.Index(b[from:], []byte(scheme))
		if n < 0 {
			break
		}
		from += n + len(scheme)
		if end < from {
			end = from + urlEnd(b[from:])
		}
		if query < from {
			if n = bytes.IndexByte(b[from:], '?'); n < 0 {
				break
			}
			query = from + n
		}
		if to := min(end, from+maxForm); query < to {
			out = append(out, ampersands.Replace(string(b[from:to])))
			size += to - from
		}
	}
	return out
}

// urlEnd is the length of the URL that a text begins with.
func urlEnd(b []byte) int {
	for i, c := range b {
		switch c {
		case '"', '\'', '`', '<', '>', '(', ')', '|':
			return i
		case '\\':
			if !bytes.HasPrefix(b[i:], []byte(`\u0026`)) {
				return i
			}
		}
		if c <= ' ' {
			return i
		}
	}
	return len(b)
}

// fields are the comma-separated values of a header, in small letters.
func fields(header map[string][]string, name string) []string {
	var out []string
	for key, values := range header {
		if !strings.EqualFold(key, name) {
			continue
		}
		for field := range strings.SplitSeq(strings.Join(values, ","), ",") {
			if field = strings.ToLower(strings.TrimSpace(field)); field != "" {
				out = append(out, field)
			}
		}
	}
	return out
}

// unpacker searches a body, and what is packed in it.
type unpacker struct {
	collector
	left  int64 // what may still be unpacked
	tries int
	err   error
}

func (u *unpacker) report(under string, hits []Hit) {
	for _, h := range hits {
		if under != "" {
			h.Encoding = inside(under, h.Encoding)
		}
		u.note(h, h.Offset)
	}
}

// opaque notes that something cannot be read; the first reason stays.
func (u *unpacker) opaque(format string, args ...any) {
	if u.err == nil {
		u.err = fmt.Errorf("%w: %s", ErrOpaque, fmt.Sprintf(format, args...))
	}
}

// declared unpacks what the header calls packed, the last coding first.
func (u *unpacker) declared(b []byte, name string, codings []string) {
	var r io.Reader = bytes.NewReader(b)
	packed := false
	for i := len(codings) - 1; i >= 0; i-- {
		if codings[i] == "identity" {
			continue
		}
		next, err := decoder(codings[i], r)
		if err != nil {
			u.opaque("coding %s: %v", codings[i], err)
			return
		}
		r, name, packed = next, outer(name, codings[i]), true
	}
	if !packed || len(b) == 0 {
		return
	}
	if err := u.stream(r, name, 1); err != nil {
		u.opaque("coding %s: %v", name, err)
	}
}

// bare unpacks a body that is a packed stream as a whole, also with its last byte first. What does not unpack was none.
func (u *unpacker) bare(b []byte, name string) {
	if len(b) < leastPacked {
		return
	}
	if mayDeflate(b) {
		_ = u.stream(flate.NewReader(bytes.NewReader(b)), outer(name, "deflate"), 1)
	}
	coding := packedBackwards(b)
	if coding == "" {
		return
	}
	if r, err := decoder(coding, bytes.NewReader(backwards(b))); err == nil {
		_ = u.stream(r, outer(name, "reversed+"+coding), 1)
	}
}

// outer names an encoding that stands within those of name.
func outer(name, next string) string {
	if name == "" {
		return next
	}
	return name + "+" + next
}

// decoder undoes one coding of HTTP.
func decoder(coding string, r io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		return gzip.NewReader(r)
	case "zlib":
		return zlib.NewReader(r)
	case "deflate": // zlib by the standard, deflate alone by custom
		in := bufio.NewReader(r)
		if head, _ := in.Peek(2); len(head) == 2 && head[0]&0x0f == 8 && binary.BigEndian.Uint16(head)%31 == 0 {
			return zlib.NewReader(in)
		}
		return flate.NewReader(in), nil
	case "br":
		return brotli.NewReader(r), nil
	}
	return nil, errors.New("it is not known")
}

// stream searches what is unpacked, and what is packed in its start. A piece that repeats
// the two before it, as those of a bomb do, holds nothing that they do not: it is not searched.
func (u *unpacker) stream(r io.Reader, name string, layer int) error {
	sc := u.set.Scanner()
	var held bytes.Buffer
	buf, last := make([]byte, pieceSize), make([]byte, 0, pieceSize)
	repeats := 0
	var failed error
	for failed == nil {
		if u.left <= 0 {
			failed = fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
			u.opaque("%s: %v", name, failed)
			break
		}
		n, room := 0, int(min(int64(len(buf)), u.left))
		for n < room && failed == nil {
			var got int
			got, failed = r.Read(buf[n:room])
			n += got
		}
		u.left -= int64(n)
		if repeats++; !bytes.Equal(buf[:n], last) {
			repeats = 0
		}
		last = append(last[:0], buf[:n]...)
		if repeats < 2 {
			_, _ = sc.Write(buf[:n])
		}
		held.Write(buf[:min(n, maxHeld-held.Len())])
	}
	u.report(name, sc.Hits())
	if layer < maxLayers {
		u.search(held.Bytes(), name, layer+1)
	}
	if errors.Is(failed, io.EOF) {
		return nil
	}
	return failed
}

// magics are how packed streams start.
var magics = []struct {
	name, magic string
	open        func(b []byte) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b\x08", openGzip},
	{"zlib", "\x78\x01", openZlib}, {"zlib", "\x78\x5e", openZlib}, {"zlib", "\x78\x9c", openZlib}, {"zlib", "\x78\xda", openZlib},
	{"zip", "PK\x03\x04", openZip},
	{"bzip2", "BZh", openBzip2},
	{"base64+gzip", "H4sI", func(b []byte) (io.Reader, error) { return gzip.NewReader(unbase64(b)) }},
	// The third digit holds two bits of what comes behind zlib's header.
	{"base64+zlib", "eAE", openZlib64}, {"base64+zlib", "eAF", openZlib64}, {"base64+zlib", "eAG", openZlib64}, {"base64+zlib", "eAH", openZlib64},
	{"base64+zlib", "eF4", openZlib64}, {"base64+zlib", "eF5", openZlib64}, {"base64+zlib", "eF6", openZlib64}, {"base64+zlib", "eF7", openZlib64},
	{"base64+zlib", "eJw", openZlib64}, {"base64+zlib", "eJx", openZlib64}, {"base64+zlib", "eJy", openZlib64}, {"base64+zlib", "eJz", openZlib64},
	{"base64+zlib", "eNo", openZlib64}, {"base64+zlib", "eNp", openZlib64}, {"base64+zlib", "eNq", openZlib64}, {"base64+zlib", "eNr", openZlib64},
}

// magicBits have a bit for each of magics that has a byte at its first and at its second place.
var magicBits = func() (bits [2][256]uint32) {
	for i, m := range magics {
		for at := range bits {
			bits[at][m.magic[at]] |= 1 << i
		}
	}
	return bits
}()

// magicsIn has a bit for each of magics that stands in b.
func magicsIn(b []byte) (there uint32) {
	was := uint32(0)
	for i, c := range b {
		for maybe := was & magicBits[1][c] &^ there; maybe != 0; maybe &= maybe - 1 {
			if k := bits.TrailingZeros32(maybe); bytes.HasPrefix(b[i-1:], []byte(magics[k].magic)) {
				there |= 1 << k
			}
		}
		was = magicBits[0][c]
	}
	return there
}

// search looks for packed streams anywhere in b.
func (u *unpacker) search(b []byte, name string, layer int) {
	there := magicsIn(b)
	for i, m := range magics {
		if there&(1<<i) == 0 {
			continue
		}
		for at := 0; ; at++ {
			n := bytes.Index(b[at:], []byte(m.magic))
			if n < 0 {
				break
			}
			if u.tries == maxTries {
				u.opaque("more than %d places look like packed streams", maxTries)
				return
			}
			at += n
			u.tries++
			if r, err := m.open(b[at:]); err == nil {
				_ = u.stream(r, outer(name, m.name), layer) // what only looks packed proves nothing by failing
			}
		}
	}
}

func openGzip(b []byte) (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) }

func openZlib(b []byte) (io.Reader, error) { return zlib.NewReader(bytes.NewReader(b)) }

func openZlib64(b []byte) (io.Reader, error) { return zlib.NewReader(unbase64(b)) }

// openBzip2 asks for the first block's mark: a reader that finds out by itself
// makes room for a block before.
func openBzip2(b []byte) (io.Reader, error) {
	const mark = "1AY&SY"
	if len(b) < 4 || !bytes.HasPrefix(b[4:], []byte(mark)) {
		return nil, errors.New("canaries: not a stream of bzip2")
	}
	return bzip2.NewReader(bytes.NewReader(b)), nil
}

// openZip reads one file of a ZIP archive.
func openZip(b []byte) (io.Reader, error) {
	const header, deflated = 30, 8
	if len(b) < header || binary.LittleEndian.Uint16(b[8:]) != deflated {
		return nil, errors.New("canaries: not a packed file of a ZIP archive")
	}
	from := header + int(binary.LittleEndian.Uint16(b[26:])) + int(binary.LittleEndian.Uint16(b[28:]))
	return flate.NewReader(bytes.NewReader(b[min(from, len(b)):])), nil
}

// unbase64 decodes the digits at the start of b, of either alphabet, over the
// ends of lines, and no more of them than are asked for.
func unbase64(b []byte) io.Reader { return base64.NewDecoder(base64.RawStdEncoding, &digitReader{b}) }

// digitReader reads digits of base 64 as those of the standard alphabet.
type digitReader struct{ rest []byte }

func (d *digitReader) Read(p []byte) (int, error) {
	n := min(len(p), len(d.rest))
	for i, c := range d.rest[:n] {
		switch {
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case c != '\r' && c != '\n' && !isDigit(c):
			d.rest = nil
			return i, io.EOF
		}
		p[i] = c
	}
	d.rest = d.rest[n:]
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}
