package canaries

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

const (
	// maxInflated bounds what is unpacked of one stream in a layer.
	maxInflated = 256 << 10
	// leastPacked is the least length of a stream that packs a secret.
	leastPacked = 12
)

// unpacking holds the readers of packed streams, which take long to make.
type unpacking struct {
	flate io.ReadCloser
	zlib  io.ReadCloser
	gzip  *gzip.Reader
	buf   bytes.Buffer
}

// gzipMagic is how streams of gzip start.
const gzipMagic = "\x1f\x8b\x08"

// isPacked reports whether b may be a packed stream.
func isPacked(b []byte, whole bool) bool {
	return len(b) >= leastPacked && (whole && (mayDeflate(b) || packedBackwards(b) != "") || zlibAt(b) >= 0 || gzipKey(b) >= 0 || bytes.Contains(b, []byte(gzipMagic)))
}

// packedBackwards is the kind of packed stream that b may be with its last byte first, "" for none.
func packedBackwards(b []byte) string {
	if len(b) < leastPacked {
		return ""
	}
	var head [leastPacked]byte
	for i := range head {
		head[i] = b[len(b)-1-i]
	}
	switch {
	case string(head[:len(gzipMagic)]) == gzipMagic:
		return "gzip"
	case zlibAt(head[:]) == 0:
		return "zlib"
	case mayDeflate(head[:]), head[0]>>1&3 == fixedCodes && bytes.Contains(b[:leastPacked], []byte("\xff\xff\x00\x00")):
		return "deflate"
	}
	return ""
}

// zlibAt is where a stream of zlib may start, at most so many bytes behind others as
// a start at a wrong digit gives, or -1.
func zlibAt(b []byte) int {
	for at := range 3 {
		if b[at] == 0x78 && (int(b[at])<<8|int(b[at+1]))%31 == 0 {
			return at
		}
	}
	return -1
}

// gzipKey is the key under which b starts like a stream of gzip, or -1.
func gzipKey(b []byte) int {
	if key := b[0] ^ gzipMagic[0]; b[1]^key == gzipMagic[1] && b[2]^key == gzipMagic[2] {
		return int(key)
	}
	return -1
}

// unpack looks at packed streams in what was decoded: gzip anywhere, also under a
// key, zlib and deflate only at the start, since their first bytes say less. Brotli is left
// out: noise makes its reader allocate megabytes before it fails.
func (d *dive) unpack(b []byte, whole bool) {
	if len(b) < leastPacked {
		return
	}
	for at := 0; ; at++ {
		n := bytes.Index(b[at:], []byte(gzipMagic))
		if n < 0 {
			break
		}
		at += n
		d.inflate("gzip", b[at:])
	}
	if key := gzipKey(b); key > 0 {
		d.enter(fmt.Sprintf(d.m.keyed[byXor].name, key), len(b), func() { d.inflate("gzip", xored(b, byte(key))) })
	}
	if at := zlibAt(b); at >= 0 {
		d.inflate("zlib", b[at:])
	}
	if whole && mayDeflate(b) {
		d.inflate("deflate", b)
	}
	if name := packedBackwards(b); whole && name != "" {
		d.enter("reversed", len(b), func() { d.inflate(name, backwards(b)) })
	}
}

// backwards is b with its last byte first.
func backwards(b []byte) []byte {
	out := bytes.Clone(b)
	slices.Reverse(out)
	return out
}

// fixedCodes is the type of a block of fixed codes.
const fixedCodes = 1

// mayDeflate reports whether b may start with a block of RFC 1951, section 3.2.3:
// one of fixed codes, or one whose code lengths have a code without gaps.
func mayDeflate(b []byte) bool {
	const dynamic, most = 2, 29
	switch b[0] >> 1 & 3 {
	case fixedCodes: // one block for all, or package flate's empty last one
		return b[0]&1 == 1 || bytes.Contains(b[max(0, len(b)-leastPacked):], []byte("\x00\x00\xff\xff"))
	case dynamic:
	default:
		return false
	}
	v := binary.LittleEndian.Uint64(b) >> 3
	if v&31 > most || v>>5&31 > most {
		return false
	}
	count := 4 + v>>10&15
	v = v>>14 | uint64(b[8])<<47 | uint64(b[9])<<55
	sum := 0
	for ; count > 0; count-- {
		if n := v & 7; n > 0 {
			sum += 1 << (7 - n)
		}
		v >>= 3
	}
	return sum == 1<<7
}

// inflate looks at a packed stream, as far as it is one.
func (d *dive) inflate(name string, b []byte) {
	if len(d.names) == maxDepth {
		return
	}
	r, err := d.packed.open(name, b)
	if err != nil {
		return
	}
	d.packed.buf.Reset()
	_, _ = io.Copy(&d.packed.buf, io.LimitReader(r, int64(max(0, min(maxInflated, d.left, d.spare)))))
	d.spend(d.packed.buf.Len())
	d.layer(name, bytes.Clone(d.packed.buf.Bytes()), false)
}

// open starts to unpack a stream.
func (u *unpacking) open(name string, b []byte) (io.Reader, error) {
	in := bytes.NewReader(b)
	var err error
	switch name {
	case "gzip":
		if u.gzip == nil {
			u.gzip = new(gzip.Reader)
		}
		return u.gzip, u.gzip.Reset(in)
	case "zlib":
		if u.zlib == nil {
			u.zlib, err = zlib.NewReader(in)
			return u.zlib, err
		}
		return u.zlib, u.zlib.(zlib.Resetter).Reset(in, nil)
	}
	if u.flate == nil {
		u.flate = flate.NewReader(in)
		return u.flate, nil
	}
	return u.flate, u.flate.(flate.Resetter).Reset(in, nil)
}

// xored is b under a key.
func xored(b []byte, key byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		out[i] = c ^ key
	}
	return out
}
