package session

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string as Python's json.dumps writes it with
// ensure_ascii=False: nothing is escaped that need not be. Bytes that are not
// UTF-8 become U+FFFD.
func appendString(b, s []byte) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		n := wire.Plain(s[i:])
		b = append(b, s[i:i+n]...)
		if i += n; i == len(s) {
			break
		}
		if c := s[i]; c < utf8.RuneSelf {
			b = appendEscape(b, rune(c))
			i++
			continue
		}
		n, ok := sequence(s[i:])
		if ok {
			b = append(b, s[i:i+n]...)
		} else {
			b = append(b, "\ufffd"...)
		}
		i += n
	}
	return append(b, '"')
}

// sequence is the length of the character that s begins with or, if that is not
// UTF-8, of the longest part of one: what a decoder replaces by one U+FFFD.
func sequence(s []byte) (n int, ok bool) {
	if _, n := utf8.DecodeRune(s); n > 1 || s[0] < utf8.RuneSelf {
		return n, true
	}
	for n = min(len(s), utf8.UTFMax-1); n > 1; n-- {
		// A prefix of a character is one that more bytes can still complete.
		if !utf8.FullRune(s[:n]) {
			return n, false
		}
	}
	return 1, false
}

// appendValid appends p with everything that is not UTF-8 replaced.
func appendValid(b, p []byte) []byte {
	for len(p) > 0 {
		n, ok := sequence(p)
		if ok {
			b = append(b, p[:n]...)
		} else {
			b = append(b, "\ufffd"...)
		}
		p = p[n:]
	}
	return b
}

// appendEscape appends a character inside a string as json.dumps writes it. A
// surrogate, which UTF-8 cannot hold, stays an escape.
func appendEscape(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\b':
		return append(b, `\b`...)
	case r == '\f':
		return append(b, `\f`...)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r < 0x20 || utf16.IsSurrogate(r):
		return append(b, '\\', 'u', hexDigits[r>>12], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
	}
	return utf8.AppendRune(b, r)
}

// appendValue appends checked JSON as Python's json.dumps(json.loads(v),
// ensure_ascii=False) writes it, but keeps what that would lose: repeated keys
// and the digits of numbers as the server wrote them.
func appendValue(b, v []byte) []byte {
	for i := 0; i < len(v); {
		switch c := v[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case ',', ':':
			b = append(b, c, ' ')
			i++
		case '"':
			b = append(b, '"')
			b, i = appendText(b, v, i+1)
		default:
			b = append(b, c)
			i++
		}
	}
	return b
}

// appendText appends a checked string from i, after its opening quote, to its
// closing quote, and returns the place after that. It looks for a quote and for
// the backslashes before it in turn, so each byte is looked at twice at most.
func appendText(b, v []byte, i int) ([]byte, int) {
	quote := i + bytes.IndexByte(v[i:], '"')
	for {
		slash := bytes.IndexByte(v[i:quote], '\\')
		if slash < 0 {
			return append(b, v[i:quote+1]...), quote + 1
		}
		b = append(b, v[i:i+slash]...)
		i += slash
		switch c := v[i+1]; c {
		case 'u':
			r, n := escaped(v[i:])
			b = appendEscape(b, r)
			i += n
		case '/':
			b = append(b, '/')
			i += 2
		default:
			b = append(b, '\\', c)
			i += 2
		}
		if i > quote {
			quote = i + bytes.IndexByte(v[i:], '"')
		}
	}
}

// escaped decodes the \uXXXX, or the pair of them, that p begins with.
func escaped(p []byte) (rune, int) {
	r := unit(p)
	if utf16.IsSurrogate(r) {
		if pair := utf16.DecodeRune(r, unit(p[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return r, 6
}

// unit is the code unit of the \uXXXX that p begins with, -1 if it is none.
func unit(p []byte) rune {
	if len(p) < 6 || p[0] != '\\' || p[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(p[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}
