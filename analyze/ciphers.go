package analyze

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// cipherAt is a tool and its argument that it encrypts, and cipherText a text and what it became.
type (
	cipherAt   struct{ tool, at string }
	cipherText struct {
		plain     string
		encrypted [][]byte
	}
)

// encodedRun is what may be bytes in an answer: hexadecimal digits or base 64.
var encodedRun = lazyregexp.New(`[A-Za-z0-9+/_-]{64,}={0,2}`)

// maxRun bounds the characters of such a run that are decoded, and maxRuns the runs of one answer.
const maxRun, maxRuns = 4096, 8

// cipherBlock is the block of AES, in bytes.
const cipherBlock = 16

// encrypted looks at what a tool made of a text that it was to encrypt, and of another one before.
func (w *wireReader) encrypted(seq uint64, call int, m *wire.Message) {
	c := w.callOf(call)
	if c == nil || len(m.Result) > maxVerdict {
		return
	}
	for _, in := range c.Oracles {
		if in.Oracle != session.OracleCipher {
			continue
		}
		at, now := cipherAt{c.Tool, in.At}, cipherText{in.Text, decodedRuns(m.Result)}
		if how := brokenBy(now, w.ciphers[at]); how != "" && len(w.facts.Broken) < maxFacts {
			w.facts.Broken = append(w.facts.Broken, rules.BrokenCipher{Fact: w.fact(seq, how), At: in.At})
		}
		w.ciphers[at] = now
	}
}

// decodedRuns are the bytes that stand encoded in an answer.
func decodedRuns(raw []byte) (out [][]byte) {
	for _, run := range encodedRun.FindAll(raw, maxRuns) {
		text := strings.TrimRight(string(run[:min(len(run), maxRun)]), "=")
		if b, err := hex.DecodeString(text); err == nil {
			out = append(out, b)
			continue
		}
		text = strings.NewReplacer("-", "+", "_", "/").Replace(text)
		if len(text)%4 == 1 { // which no base 64 has
			text = text[:len(text)-1]
		}
		if b, err := base64.RawStdEncoding.DecodeString(text); err == nil {
			out = append(out, b)
		}
	}
	return out
}

// brokenBy is how the encryption of a text can be seen through, "" for not at all: by itself, or beside that of another
// text of the same length.
func brokenBy(now, before cipherText) string {
	for _, c := range now.encrypted {
		if bytes.Contains(c, []byte(now.plain)) {
			return rules.CipherPlain
		}
		for i := 0; i+2*cipherBlock <= len(c); i++ {
			if bytes.Equal(c[i:i+cipherBlock], c[i+cipherBlock:i+2*cipherBlock]) {
				return rules.CipherBlocks
			}
		}
		if slices.ContainsFunc(before.encrypted, func(b []byte) bool { return sameStream(c, b, now.plain, before.plain) }) {
			return rules.CipherStream
		}
	}
	return ""
}

// sameStream reports whether two encrypted texts differ in some place as the texts themselves do.
func sameStream(a, b []byte, plainA, plainB string) bool {
	n := len(plainA)
	for at := 0; n == len(plainB) && at+n <= min(len(a), len(b)); at++ {
		same := true
		for i := 0; same && i < n; i++ {
			same = a[at+i]^b[at+i] == plainA[i]^plainB[i]
		}
		if same {
			return true
		}
	}
	return false
}
