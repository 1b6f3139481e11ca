package audit

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// EncodedCode is the rule for code and addresses that stand in a source in an encoding.
const EncodedCode = "encoded-code"

// Bounds of what is decoded: the shortest text, how much of one, and how many of a file.
const (
	minEncoded, maxEncoded, maxEncodings = 64, 64 << 10, 200
)

var (
	// codeWords are words of programs, of which one that was hidden has some.
	codeWords = regexp.MustCompile(`\bimport (?:os|sys|socket|subprocess|base64|urllib|requests)\b|\brequire\(["']|\beval\(|\bexec\(|\bsubprocess\.|\bchild_process\b|\bos\.system\(|\bnew Function\(|^#!/|/bin/(?:ba)?sh\b|\bpowershell\b|(?i)\bcurl [^\n]{0,80}\|\s*(?:ba)?sh\b`)
	address   = regexp.MustCompile(`^\s*(?:https?|wss?)://[^\s"']{4,}\s*$`)
)

// packed begins what a packer of JavaScript writes.
const packed = "eval(function(p,a,c,k,e,"

// encoded reports the texts of a source that are base64 or hexadecimal digits of code or of an
// address, and packed code. What follows "data:" is a file, and is left alone.
func (a *auditor) encoded(p, src string) {
	if i := strings.Index(src, packed); i >= 0 {
		a.add(EncodedCode, finding.Medium, p, src, i, "packed code is unpacked and run", packed)
	}
	for i, n := 0, 0; i < len(src) && n < maxEncodings; i++ {
		if c := src[i]; c != '"' && c != '\'' && c != '`' {
			continue
		}
		from, end := i+1, i+1
		for end < len(src) && byteKinds[src[end]]&isToken != 0 {
			end++
		}
		i = max(end-1, i)
		if end-from < minEncoded || end == len(src) || src[end] != src[from-1] {
			continue
		}
		n++
		how, plain := decoded(src[from:min(end, from+maxEncoded)])
		switch {
		case how == "":
		case codeWords.MatchString(plain):
			a.add(EncodedCode, finding.Medium, p, src, from, how+" in the source decodes to code", how+" code")
		case address.MatchString(plain):
			a.add(EncodedCode, finding.Low, p, src, from, how+" in the source decodes to an address", how+" address")
		}
	}
}

// decoded is the text that a run encodes, and how; how is "" for none.
func decoded(run string) (how, plain string) {
	if b, err := hex.DecodeString(run[:len(run)&^1]); err == nil && isReadable(b) {
		return "hexadecimal", string(b)
	}
	body := strings.TrimRight(run, "=")
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := e.DecodeString(body[:len(body)&^3]); err == nil && isReadable(b) {
			return "base64", string(b)
		}
	}
	return "", ""
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
