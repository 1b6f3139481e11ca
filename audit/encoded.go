package audit

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// EncodedCode is the rule for code, orders and addresses that stand in a source in an encoding.
const EncodedCode = "encoded-code"

// Bounds of what is decoded: the shortest text, the shortest that may be an address, how much of one,
// how many of a file, how much of what is decompressed, and how often one is decoded again.
const (
	minEncoded, minAddress    = 64, 20
	maxEncoded, maxEncodings  = 64 << 10, 200
	maxInflated, maxNestedEnc = 256 << 10, 3
)

var (
	// codeWords are words of programs: a program that was hidden has some.
	codeWords = lazyregexp.New(`\bimport (?:os|sys|socket|subprocess|base64|urllib|requests)\b|\brequire\(["']|\beval\(|\bexec\(|\bsubprocess\.|\bchild_process\b|\bos\.system\(|\bnew Function\(|^#!/|/bin/(?:ba)?sh\b|\bpowershell\b|(?i)\bcurl [^\n]{0,80}\|\s*(?:ba)?sh\b`)
	address   = lazyregexp.New(`^\s*(?:https?|wss?)://[^\s"']{4,}\s*$`)
	// encodedAddress begins an address in base64 or in hexadecimal digits.
	encodedAddress = lazyregexp.New(`^(?:aHR0c(?:HM6|DovL)|d3NzOi8v|d3M6Ly|(?i:68747470(?:73)?3a2f2f))`)
)

// packed begins what a packer of JavaScript writes.
const packed = "eval(function(p,a,c,k,e,"

// encoded reports the texts of a source that are base64 or hexadecimal digits of code, of orders or of an
// address, escaped and reversed ones, packed code and obfuscated names. What follows "data:" is a file, and is left alone.
func (a *auditor) encoded(p, src string) {
	if i := strings.Index(src, packed); i >= 0 {
		a.add(EncodedCode, finding.Medium, p, src, i, "packed code is unpacked and run", packed)
	}
	a.escaped(p, src)
	a.reversed(p, src)
	a.obfuscated(p, src)
	for i, n := 0, 0; i < len(src) && n < maxEncodings; i++ {
		c := src[i]
		if byteKinds[c]&isOpening == 0 {
			continue
		}
		if c == '[' || c == '(' {
			if plain, end := ofCodes(src, i+1); end > 0 {
				a.hidden(p, src, i+1, "a list of characters' numbers", plain)
				i, n = end-1, n+1
			}
			continue
		}
		from, end := i+1, i+1
		for end < len(src) && byteKinds[src[end]]&isToken != 0 {
			end++
		}
		i = max(end-1, i)
		if end-from < minAddress || end == len(src) || src[end] != src[from-1] {
			continue
		}
		if end-from < minEncoded && !encodedAddress.MatchString(src[from:end]) {
			continue
		}
		n++
		how, plain := decoded(src[from:min(end, from+maxEncoded)])
		a.hidden(p, src, from, how, plain)
	}
}

// hidden reports a text that stands in a source in an encoding, if it is code, orders or an address.
func (a *auditor) hidden(p, src string, at int, how, plain string) {
	switch {
	case how == "":
	case codeWords.MatchString(plain):
		a.add(EncodedCode, finding.Medium, p, src, at, how+" in the source decodes to code", how+" code")
	case address.MatchString(plain):
		a.add(EncodedCode, finding.Low, p, src, at, how+" in the source decodes to an address", how+" address")
	case slices.ContainsFunc(text.Scan(plain), func(h text.Hit) bool { return h.Rule == text.Poisoning && !h.Quoted }):
		a.add(EncodedCode, finding.Medium, p, src, at, how+" in the source decodes to orders to a model", how+" orders")
	}
}

// decoded is the text that a run encodes, and how; how is "" for none. What is compressed, or
// encoded again, is taken out of that too.
func decoded(run string) (how, plain string) {
	for depth := range maxNestedEnc {
		kind, b := bytesOf(run)
		if kind == "" {
			break
		}
		if inner, ok := inflated(b); ok {
			kind, b = kind+" of compressed text", inner
		}
		if !isReadable(b) {
			break
		}
		if depth == 0 {
			how = kind
		}
		plain = string(b)
		if run = strings.TrimSpace(plain); len(run) < minEncoded {
			break
		}
	}
	return how, plain
}

// bytesOf are the bytes that a run of digits encodes; kind is "" for none.
func bytesOf(run string) (kind string, b []byte) {
	if b, err := hex.DecodeString(run[:len(run)&^1]); err == nil {
		return "hexadecimal", b
	}
	body := strings.TrimRight(run, "=")
	if len(body)%4 == 1 { // it was cut
		body = body[:len(body)-1]
	}
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(body); err == nil {
			return "base64", b
		}
	}
	return "", nil
}

// inflated is what compressed bytes hold, up to a bound.
func inflated(b []byte) ([]byte, bool) {
	var r io.Reader
	var err error
	switch {
	case len(b) < 8:
		return nil, false
	case b[0] == 0x1F && b[1] == 0x8B:
		r, err = gzip.NewReader(bytes.NewReader(b))
	case b[0] == 0x78 && (b[1] == 0x01 || b[1] == 0x5E || b[1] == 0x9C || b[1] == 0xDA):
		r, err = zlib.NewReader(bytes.NewReader(b))
	default:
		return nil, false
	}
	if err != nil {
		return nil, false
	}
	out, _ := io.ReadAll(io.LimitReader(r, maxInflated)) // what was cut off says nothing more
	return out, len(out) > 0
}

// minCodes is how many characters a text has that stands as a list of their numbers.
const minCodes = 16

// ofCodes is the text whose characters' numbers are listed from i on, and where the list ends, 0 for
// none.
func ofCodes(src string, i int) (plain string, end int) {
	var b []byte
	for i < len(src) && len(b) < maxEncoded {
		from := i
		for i < len(src) && byteKinds[src[i]]&isAlnum != 0 {
			i++
		}
		if i == from || i-from > 4 || src[from] < '0' || src[from] > '9' {
			break
		}
		n, err := strconv.ParseUint(src[from:i], 0, 8)
		if err != nil || n > 0x7E || n < 0x20 && n != '\n' && n != '\t' && n != '\r' {
			return "", 0
		}
		b = append(b, byte(n))
		for i < len(src) && (src[i] == ',' || src[i] == ' ' || src[i] == '\n') {
			i++
		}
	}
	if len(b) < minCodes || i == len(src) || src[i] != ']' && src[i] != ')' {
		return "", 0
	}
	return string(b), i
}

// minEscaped is how many printable characters in a row are escaped where somebody hides a text.
const minEscaped = 16

// escaped reports texts whose printable characters are escaped one by one, which no tool needs.
func (a *auditor) escaped(p, src string) {
	for i, n := 0, 0; n < maxEncodings; n++ {
		next := strings.IndexByte(src[i:], '\\')
		if next < 0 {
			return
		}
		i += next
		from := i
		var plain []byte
		for len(plain) < maxEncoded {
			c, size := escape(src[i:])
			if size == 0 {
				break
			}
			plain, i = append(plain, c), i+size
		}
		if len(plain) < minEscaped {
			n--
			i = max(i, from+1)
			continue
		}
		a.hidden(p, src, from, "an escaped text", string(plain))
	}
}

// escape is the printable character that a text begins with as \xHH or \u00HH; size is 0 for none.
func escape(s string) (c byte, size int) {
	var digits int
	switch {
	case len(s) >= 4 && s[1] == 'x':
		digits, size = 2, 4
	case len(s) >= 6 && s[1] == 'u' && s[2] == '0' && s[3] == '0':
		digits, size = 4, 6
	default:
		return 0, 0
	}
	if s[0] != '\\' {
		return 0, 0
	}
	n, err := strconv.ParseUint(s[2:2+digits], 16, 16)
	if err != nil || n < 0x20 || n > 0x7E {
		return 0, 0
	}
	return byte(n), size
}

// reversals are what turns a text around in Python and in JavaScript.
var reversals = []string{"[::-1]", ".reverse()"}

// splits ends with what takes a text of JavaScript apart before it is turned around.
var splits = lazyregexp.New(`(["'` + "`" + `])\)?\.split\((?:""|'')\)$`)

// maxSplit is more than what splits matches takes.
const maxSplit = 20

// reversed reports texts that are written backwards and turned around.
func (a *auditor) reversed(p, src string) {
	for _, turn := range reversals {
		for i, n := 0, 0; n < maxEncodings; n++ {
			next := strings.Index(src[i:], turn)
			if next < 0 {
				break
			}
			i += next + len(turn)
			end := i - len(turn) - 1 // of the text, where its quote stands
			if turn == ".reverse()" {
				before := src[max(end+1-maxSplit, 0) : end+1]
				at := splits.FindStringIndex(before)
				if at == nil {
					continue
				}
				end -= len(before) - at[0] - 1
			}
			if end < 0 || strings.IndexByte("\"'`", src[end]) < 0 {
				continue
			}
			from := strings.LastIndexByte(src[max(end-maxEncoded, 0):end], src[end])
			if from < 0 {
				continue
			}
			from += max(end-maxEncoded, 0)
			plain := []rune(src[from+1 : end])
			slices.Reverse(plain)
			a.hidden(p, src, from, "a reversed text", string(plain))
		}
	}
}

// minObfuscated is how many names of an obfuscator a source has.
const minObfuscated = 40

// madeName is a name as the usual obfuscator of JavaScript makes it.
var madeName = lazyregexp.New(`\b_0x[0-9a-f]{4,6}\b`)

// obfuscated reports sources whose names an obfuscator has made. A minifier makes short ones.
func (a *auditor) obfuscated(p, src string) {
	at := strings.Index(src, "_0x")
	if at < 0 || len(madeName.FindAllStringIndex(src, minObfuscated)) < minObfuscated {
		return
	}
	a.add(EncodedCode, finding.Medium, p, src, at, "an obfuscator has made the names of the source", "names")
}

// isReadable reports whether bytes are text. The last character may have been cut.
func isReadable(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			return !utf8.FullRune(b)
		}
		if !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[n:]
	}
	return true
}
