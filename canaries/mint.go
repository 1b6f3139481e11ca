package canaries

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// The alphabets of the values' shapes.
const (
	digits    = "0123456789"
	lower     = "abcdefghijklmnopqrstuvwxyz"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	base62    = digits + upper + lower
	base64Std = upper + lower + digits + "+/"
	base64URL = upper + lower + digits + "-_"
	hexDigits = digits + "abcdef"
	// rancher leaves out vowels and look-alikes, as that product's own tokens do.
	rancher = "bcdfghjklmnpqrstvwxz2456789"
)

// telltales are the words that no value may hold, in whatever case: each makes
// a reader, or a guard of the server's, think of a decoy.
var telltales = []string{"example", "canary", "honey", "test", "fake", "dummy", "coalmine", "decoy", "sink", "probe", "trace", "sandbox", "malware", "placeholder", "changeme", "bait"}

// maxDraws bounds how often a value is drawn again. A sound source needs a
// second draw about once in ten thousand values.
const maxDraws = 32

var errStuck = errors.New("canaries: the source of randomness repeats itself")

// mint draws values. The first error sticks: the draws after it yield
// placeholders, and the caller looks at err once, at the end.
type mint struct {
	r    io.Reader
	err  error
	seen map[string]bool
}

func newMint(r io.Reader) *mint { return &mint{r: r, seen: map[string]bool{}} }

// bytes draws n bytes.
func (m *mint) bytes(n int) []byte {
	b := make([]byte, n)
	if m.err != nil {
		return b
	}
	if _, err := io.ReadFull(m.r, b); err != nil {
		m.err = fmt.Errorf("canaries: drawing randomness: %w", err)
	}
	return b
}

// intn draws a number below n. Its bias is below one in 2^40 for every n used here.
func (m *mint) intn(n int) int {
	return int(binary.LittleEndian.Uint64(m.bytes(8)) >> 1 % uint64(n))
}

// chars draws n characters of an alphabet of at most 256.
func (m *mint) chars(alphabet string, n int) string {
	raw := m.bytes(4 * n)
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[binary.LittleEndian.Uint32(raw[4*i:])%uint32(len(alphabet))]
	}
	return string(out)
}

// pick draws one of the words.
func (m *mint) pick(words []string) string { return words[m.intn(len(words))] }

// value draws until the result is new in this set and holds no telltale word.
func (m *mint) value(draw func() string) string {
	for range maxDraws {
		v := draw()
		if m.err != nil {
			return v
		}
		if !m.seen[v] && !hasTelltale(v) {
			m.seen[v] = true
			return v
		}
	}
	m.err = errStuck
	return ""
}

// hasTelltale reports whether a text holds a word that gives a decoy away.
func hasTelltale(s string) bool {
	s = strings.ToLower(s)
	for _, w := range telltales {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// prefixed is the commonest shape: a fixed prefix and n characters.
func (m *mint) prefixed(prefix, alphabet string, n int) string {
	return m.value(func() string { return prefix + m.chars(alphabet, n) })
}

// checksummed is the shape of GitHub's and npm's tokens: thirty characters,
// and their CRC-32 in base 62.
func (m *mint) checksummed(prefix string) string {
	return m.value(func() string {
		body := m.chars(base62, 30)
		return prefix + body + checksum62(body)
	})
}

// githubFine is a fine-grained GitHub token; its checksum covers all before it.
func (m *mint) githubFine() string {
	return m.value(func() string {
		body := m.chars(base62, 22) + "_" + m.chars(base62, 53)
		return "github_pat_" + body + checksum62(body)
	})
}

// checksum62 is a CRC-32 as six digits of base 62, padded with zeros.
func checksum62(body string) string {
	sum := crc32.ChecksumIEEE([]byte(body))
	var out [6]byte
	for i := len(out) - 1; i >= 0; i-- {
		out[i] = base62[sum%62]
		sum /= 62
	}
	return string(out[:])
}

// awsKeyID is an access key id; the bits after its prefix hold the number of an
// account, and readers of such ids decode it.
func (m *mint) awsKeyID(prefix string) string {
	return m.value(func() string {
		const alphabet = upper + "234567"
		account := uint64(100_000_000_000 + m.intn(900_000_000_000))
		raw := m.bytes(10)
		bits := account<<7 | 1<<47 | uint64(raw[5]&0x7f)
		for i := range 6 {
			raw[i] = byte(bits >> (40 - 8*i))
		}
		var id [16]byte
		for i := range id {
			id[i] = alphabet[quintet(raw, i)]
		}
		return prefix + string(id[:])
	})
}

// quintet is the i-th group of five bits.
func quintet(b []byte, i int) byte {
	var v byte
	for bit := 5 * i; bit < 5*i+5; bit++ {
		v = v<<1 | b[bit/8]>>(7-bit%8)&1
	}
	return v
}

// uuid is a random UUID of version 4.
func (m *mint) uuid() string {
	b := m.bytes(16)
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b)
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}

// pypi is a token of PyPI: a serialised macaroon of version 2, with an
// identifier, one caveat that names the user, and a signature.
func (m *mint) pypi() string {
	return m.value(func() string {
		field := func(kind byte, data []byte) []byte {
			return append([]byte{kind, byte(len(data))}, data...)
		}
		mac := []byte{2}
		mac = append(mac, field(1, []byte("pypi.org"))...)
		mac = append(mac, field(2, []byte(m.uuid()))...)
		mac = append(mac, 0)
		mac = append(mac, field(2, []byte(`[3,"`+m.uuid()+`"]`))...)
		mac = append(mac, 0, 0)
		mac = append(mac, field(6, m.bytes(32))...)
		return "pypi-" + base64.RawURLEncoding.EncodeToString(mac)
	})
}

// password is what a password manager would make.
func (m *mint) password() string { return m.prefixed("", base62, 24) }
